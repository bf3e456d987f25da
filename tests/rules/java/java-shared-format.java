class Dates {
    private static final SimpleDateFormat DAY = new SimpleDateFormat("yyyy-MM-dd"); // expect
    static DateFormat format = DateFormat.getDateInstance(); // expect
    public static Calendar calendar = Calendar.getInstance(); // expect

    private static final DateTimeFormatter SAFE = DateTimeFormatter.ISO_DATE; // ok: threads may share it
    private final SimpleDateFormat own = new SimpleDateFormat("yyyy"); // ok: one an object

    String day(Date date) {
        return new SimpleDateFormat("yyyy-MM-dd").format(date); // ok: one a call
    }
}

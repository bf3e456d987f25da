package shop.loyalty;

/** Points for customers who come back. */
public final class Points {
    private Points() {}

    /** The points for an order; members of the gold tier get twice as many. */
    public static int of(String tier, int cents) {
        int points = cents / 100;
        if (tier == "gold") {
            return 2 * points;
        }
        return points;
    }
}

class Calculator {
    Object calculate(ScriptEngine engine, String text) throws ScriptException {
        engine.eval(text); // expect
        engine.eval("1 + " + text); // expect
        return new SpelExpressionParser().parseExpression(text).getValue(); // expect
    }

    Object safe(ScriptEngine engine, String text) throws ScriptException {
        engine.eval("1 + 1"); // ok: a constant
        parser.parseExpression("name.length()"); // ok: a constant
        return Integer.parseInt(text); // ok: a number
    }
}

import ast


def calculate(text, request, model, code):
    eval(text)  # expect
    exec(code)  # expect
    eval("1 + " + text)  # expect
    exec(f"import {text}")  # expect


def safe(text, model):
    ast.literal_eval(text)  # ok: literals only
    model.eval()  # ok: a method
    eval("1 + 1")  # ok: a constant
    evaluate(text)  # ok: another function

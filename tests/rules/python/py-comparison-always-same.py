def check(order, other, total):
    if order.total == order.total:  # expect
        return 1
    if order.state == "paid" or "sent":  # expect
        return 2
    assert (total > 0, "no total")  # expect
    if total == float("nan"):  # expect
        return 3


def safe(order, other, total, queue):
    if order.total == other.total:  # ok: two values
        return 1
    if order.state == "paid" or order.state == "sent":  # ok: two comparisons
        return 2
    assert total > 0, "no total"  # ok: no tuple
    if queue.pop() == queue.pop():  # ok: two calls
        return 3


def is_nan(value):
    return value != value  # ok: meant so

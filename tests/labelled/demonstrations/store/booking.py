"""Bookings of a room, as (begin, end) in minutes; the end is free again."""


def collides(one, other):
    begin, end = other
    return one[0] <= begin < one[1] and one[0] < end <= one[1]


def free(bookings, wanted):
    return not any(collides(booking, wanted) for booking in bookings)

"""Tasks by urgency; equal ones in the order in which they came."""

import heapq


class Tasks:
    def __init__(self):
        self.heap = []
        self.count = 0

    def add(self, urgency, task):
        self.count += 1
        heapq.heappush(self.heap, (-urgency, -self.count, task))

    def next(self):
        return heapq.heappop(self.heap)[-1]

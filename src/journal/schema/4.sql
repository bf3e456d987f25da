-- The earlier dispute that a dispute reopens, whose ruling does not bind any more.
ALTER TABLE dispute ADD COLUMN reopens INTEGER;

-- How long a ruling binds: its last day (UTC), and when it was ended because its code was gone.
ALTER TABLE dispute ADD COLUMN until TEXT;
ALTER TABLE dispute ADD COLUMN ended TEXT;

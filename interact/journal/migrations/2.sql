-- Who else has a part in it: the machine that asked, and the device that answered; empty for this computer.
ALTER TABLE entries ADD COLUMN machine TEXT NOT NULL DEFAULT '';
ALTER TABLE entries ADD COLUMN device TEXT NOT NULL DEFAULT '';

-- What searches and sums are read from. All of it comes from the journal's entries and can be made again.

-- The words of entries, and what their columns say as words that no text has: see token. No query ever has to put lists
-- of entries together: every beginning that a word can be asked for has a list of its own.
CREATE VIRTUAL TABLE words USING fts5 (
	text, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii',
	prefix = '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15'
);

-- Counts of a local day.
CREATE TABLE sums (
	day      TEXT NOT NULL, -- 2006-01-02
	agent    TEXT NOT NULL,
	project  TEXT NOT NULL,
	tool     TEXT NOT NULL,
	machine  TEXT NOT NULL,
	device   TEXT NOT NULL,
	rule     TEXT NOT NULL, -- that has saved a prompt; else empty
	entries  INTEGER NOT NULL,
	asked    INTEGER NOT NULL,
	passed   INTEGER NOT NULL,
	denied   INTEGER NOT NULL,
	missed   INTEGER NOT NULL,
	answered INTEGER NOT NULL, -- microseconds in all
	settled  INTEGER NOT NULL, -- of the last
	seq      INTEGER NOT NULL, -- of the last
	PRIMARY KEY (day, agent, project, tool, machine, device, rule)
) STRICT, WITHOUT ROWID;

-- Which entries were settled in an hour, counted from 1970; others may lie between them, as clocks are set.
CREATE TABLE hours (
	hour  INTEGER PRIMARY KEY,
	first INTEGER NOT NULL,
	last  INTEGER NOT NULL
) STRICT;

-- How far the index has come.
CREATE TABLE state (
	seq    INTEGER NOT NULL, -- the last entry that is in it
	hash   BLOB NOT NULL,    -- … and its hash: the index is of this journal and no other
	gone   INTEGER NOT NULL, -- the last entry that has been taken out
	bodies INTEGER NOT NULL  -- the last entry whose body's words have been
) STRICT;
INSERT INTO state VALUES (0, zeroblob(32), 0, 0);

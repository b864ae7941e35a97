-- Requests that wait. The record has the exact input: without it the request could not be asked about again.
CREATE TABLE pending (
	id     TEXT PRIMARY KEY,
	record BLOB NOT NULL, -- JSON
	draft  BLOB
) STRICT, WITHOUT ROWID;

-- What came of requests. The columns are those of the head, for queries; times are in microseconds since 1970.
CREATE TABLE entries (
	seq     INTEGER PRIMARY KEY,
	id      TEXT NOT NULL UNIQUE,
	created INTEGER NOT NULL,
	settled INTEGER NOT NULL,
	kind    TEXT NOT NULL,
	agent   TEXT NOT NULL,
	session TEXT NOT NULL,
	project TEXT NOT NULL,
	tool    TEXT NOT NULL,
	class   TEXT NOT NULL,
	gist    TEXT NOT NULL,
	outcome TEXT NOT NULL,
	by      TEXT NOT NULL,
	rule    TEXT NOT NULL,
	hash    BLOB NOT NULL, -- SHA-256 of the hash of the entry before and of the head
	head    BLOB NOT NULL, -- JSON of what is kept as long as the entry is, with the SHA-256 of the body
	body    BLOB           -- JSON of what agent and person said; NULL: not kept, or no longer
) STRICT;

-- Where the chain begins, now that older entries are gone, and up to where bodies are.
CREATE TABLE anchor (
	seq    INTEGER NOT NULL, -- of the last entry that is gone
	hash   BLOB NOT NULL,    -- … and its hash
	bodies INTEGER NOT NULL  -- of the last entry whose body is gone
) STRICT;
INSERT INTO anchor VALUES (0, zeroblob(32), 0);

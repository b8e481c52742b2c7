/** Limits of the dashboard that the server keeps and the page knows. No imports: the page bundles this file. */

const KIB = 1024
const MIB = 1024 ** 2

/** Sessions (dashboard-and-cli.md 5.3). */
export const SESSION_IDLE_MS = 12 * 3_600_000
export const SESSION_MAX_MS = 7 * 24 * 3_600_000
export const LOGIN_CODE_MS = 60_000
export const LOGINS_PER_MINUTE = 5

/** Lists. */
export const PAGE_SIZE = 50
export const MAX_PAGE_SIZE = 200
export const MAX_SEARCH_LENGTH = 256
export const MAX_CURSOR_LENGTH = 512

/** Bulk actions on sandboxes. */
export const MAX_JOB_ITEMS = 1000
export const MAX_TEAM_JOBS = 5
export const JOB_WIDTH = 8
export const JOB_KEPT_MS = 24 * 3_600_000

/** The live socket (5.2). */
export const LIVE_PING_MS = 20_000
/** The side that has heard nothing for this long closes the socket. */
export const LIVE_SILENCE_MS = 50_000
export const LIVE_BACK_OFF_MS = { first: 500, most: 15_000 } as const
export const MAX_LIVE_SOCKETS = 512
export const MAX_TEAM_LIVE_SOCKETS = 128
export const MAX_SUBSCRIPTIONS = 32
/** A text frame of the page, as UTF-8. */
export const MAX_FRAME_BYTES = 64 * KIB
/** What waits to be sent to one page; beyond it the topic is answered with `gap`, and a page that does not read at all is closed. */
export const MAX_OUTBOX_BYTES = 4 * MIB
export const MAX_TOPIC_LENGTH = 4608
export const MAX_METRIC_SANDBOXES = 100

/** Close codes of the live socket. */
export const LIVE_CLOSE = { sessionEnded: 4401, tooMany: 4429, tooSlow: 4408, protocol: 4400, goingAway: 1001 } as const

/** Terminals. */
export const MAX_TERMINALS = 256
export const MAX_TEAM_TERMINALS = 64
export const MAX_SANDBOX_TERMINALS = 16
export const MAX_TERMINAL_VIEWERS = 16
export const TERMINAL_KEPT_BYTES = 256 * KIB
export const TERMINAL_KEPT_MS = 30 * 60_000
/** Output that is sent and not acknowledged. */
export const TERMINAL_WINDOW_BYTES = 256 * KIB
/** Input that waits for the daemon. Chunks count too: many empty ones are also memory. */
export const TERMINAL_INPUT_BYTES = 256 * KIB
export const TERMINAL_INPUT_CHUNKS = 256
/** The payload of one binary frame. */
export const MAX_TERMINAL_CHUNK_BYTES = 64 * KIB
export const MAX_TERMINAL_SIZE = { cols: 1000, rows: 1000 } as const

/** Recordings, as asciicast v2. */
export const MAX_RECORDING_BYTES = 8 * MIB
/** Rows of one recording: a slow program makes small ones. */
export const MAX_RECORDING_PARTS = 20_000
export const MAX_TEAM_RECORDINGS_BYTES = 512 * MIB
export const MAX_TEAM_RECORDINGS = 1000
/** What is printed and not stored yet, of one recording. More, while the database is slow or gone, ends the recording. */
export const MAX_RECORDING_PENDING_BYTES = 256 * KIB
export const RECORDING_KEPT_MS = 7 * 24 * 3_600_000

/** Calls of a sandbox's daemon on behalf of the page. */
export const RELAY_TIMEOUT_MS = 15_000
export const MAX_RELAY_ANSWER_BYTES = 16 * MIB

/** Files. */
export const MAX_PATH_BYTES = 4096
/** Entries of one folder that are sent; the answer says that there are more. */
export const MAX_DIR_ENTRIES = 5000
/** The largest file that opens in the editor. */
export const MAX_EDIT_BYTES = 2 * MIB
export const MAX_IMAGE_BYTES = 8 * MIB
export const MAX_UPLOAD_BYTES = 1024 * MIB
export const FILE_TIMEOUT_MS = 10 * 60_000
export const MAX_TEAM_TRANSFERS = 16
/** Events of a watched folder that wait to be sent, by bytes of their names. */
export const MAX_WATCH_BYTES = 256 * KIB

/** Changes since create. */
export const MAX_CHANGES = 5000
/** Of the engine's list. */
export const MAX_CHANGES_BYTES = 2 * MIB
/** Lists and original files that are read at once, and that wait. */
export const CHANGES_AT_ONCE = { ofTeam: 2, inAll: 8 } as const
export const CHANGES_WAITING = { ofTeam: 16, inAll: 128 } as const
export const CHANGES_TIMEOUT_MS = 30_000
/** As much as the editor opens. */
export const MAX_ORIGINAL_BYTES = 2 * MIB
export const ORIGINAL_TIMEOUT_MS = 30_000

/** Types of images that are shown; everything else is only downloaded. No SVG: it can hold scripts. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp'] as const

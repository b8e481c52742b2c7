/** The edge cases of envd.md 18 in its order, from 1: what a daemon that is written from the interface alone gets wrong. */
export const EDGE_CASES: readonly string[] = [
  // HTTP and access
  'A missing token is a plain 401 on RPC paths too, with a number as `code`',
  'An unknown Basic user is refused on every route, with a text as `code`',
  '`Basic` without a colon is ignored; with an empty name it is refused',
  'A token in the header beats the signature, right or wrong',
  'Signatures cover the literal `path` and `username`, in unpadded base64',
  'An end that was not signed is an invalid signature; the end is checked last',
  'Without a token of the sandbox signatures are not looked at',
  'Composing cannot be signed, and `HEAD /files` is a 405',
  'Preflights need no token; errors carry CORS headers too',
  '`/init` takes the token from its body; older timestamps change nothing; errors are plain text',
  '`/init` replaces the variables and cannot touch those of the platform',
  'An empty token is a 400; a set one changes with the platform only',
  "The control plane's routes are out of reach through the proxy in every spelling",
  'No time limit, body limit or compression of the HTTP server gets in the way',
  // Files
  'A new file is exactly CREATE, CHMOD, WRITE',
  'Overwriting keeps mode and inode, follows links, changes the owner and replaces metadata',
  'Multipart: names with directories, `path` before file names, only parts named `file`, none is `[]`',
  'The same target twice in one form is a 400 after the first is written',
  'A gzip request body wraps the whole form',
  '507 has a text for space with a length, without one, and for inodes',
  'Results of uploads have neither size nor mode',
  'Downloads are gzip by default; ranges and conditions go back to identity; 406',
  'Three forms of `Content-Disposition`, never `attachment`',
  'No ETag, yet `If-None-Match: *` and `If-Match` count; a range of an empty file is a 200',
  'A directory is a 400, a path below a file a 500',
  'A source that is the destination under another name is refused',
  'A failed compose leaves everything as it was and names the source as the caller did',
  "Composing replaces the destination's mode, owner and metadata",
  // Paths and entries
  'An empty path is the default directory; relative paths are below the home',
  'Absolute paths are answered as they were given',
  '`~user` is an error, `~` and `~/x` work everywhere',
  'Filesystem calls act as root, whatever user is named',
  'Permissions in the form of Go',
  'Links: type and mode of the target, size of the link, broken ones without a type',
  '`mode` has neither type nor special bits',
  'ListDir: bytewise, depth first, parents before children',
  'ListDir through a link keeps the prefix and does not descend into links',
  'Depth 0 is depth 1',
  'Move never replaces a directory, makes parents, and does not copy across filesystems',
  'MakeDir of a directory is `already_exists`, of a file `invalid_argument`',
  'Removing what is not there succeeds',
  'Stat of a path below a file is `internal`',
  'New directories belong to the user at every level; concurrent makers do not fail',
  'Ids without an account are shown as numbers',
  // Watchers
  'Names are relative to the root; a rename is RENAME and CREATE',
  'CHMOD covers owner, times and attributes; nothing for a close; nothing is merged',
  '`entry` comes with CREATE, WRITE and CHMOD only',
  'New subdirectories are scanned, and nothing in them is lost',
  'A watch is armed before its answer; a poll sees what was written before it',
  'Watchers outlive their connection; the second removal is `not_found`',
  'A file is `invalid_argument`, a missing path `not_found`; network mounts are refused',
  'The end of the root does not end the stream',
  'Many watchers do not use up the instances of the kernel',
  // Processes
  'A command that is not found starts and exits with 127',
  'The working directory is judged as the user',
  'Supplementary groups are those of the user',
  'The environment is minimal; `PATH` of the request counts',
  'Arguments are not parsed a second time',
  'Standard streams are pipes',
  'Without `stdin` there is an open pipe, with `false` nothing',
  '`Connect-Timeout-Ms` of Start ends the process; a disconnect never does',
  'Deadlines and disconnects end handlers',
  '`end` waits for the pipes, except after a signal',
  'Signals go to one process',
  'The exit by a signal has code -1 and the name of the signal',
  '`error` is there for every exit but 0',
  'No replay for late subscribers; output without any is dropped',
  'A stalled subscriber is released when it disconnects',
  'Output is bytes',
  'Every subscriber gets everything before `end`',
  'Connect finds a process for 30 seconds after its end',
  'The keepalive interval is in seconds; 0 and less do no harm',
  'Update without a terminal',
  'CloseStdin is repeatable, and `unknown` for a terminal',
  'SendInput to the wrong kind of stream',
  'Tags find any process that has them',
  'StreamInput: field numbers, and data before the start',
  'Processes of others are not found',
  // Wire
  'A JSON stream request has its 5-byte prefix; `application/json` is a 415',
  'Streams end with their envelope, and fail as HTTP 200',
  'Envelopes are not compressed unless the client asks',
  'Nulls, both spellings of names, numbers and texts of numbers are read',
  'Headers and the first message go out at once',
  'Servers on localhost become reachable',
]

const PROCESSES = 'not yet: belongs to the processes, which are next'
const FIRST_OF_PROCESSES = 54
const LAST_OF_PROCESSES = 78
const LOCALHOST = 84

/** Why an edge case has no test that names it; undefined where it has to have one. */
export function reasonWithoutTest(number: number): string | undefined {
  const isOfProcesses = number >= FIRST_OF_PROCESSES && number <= LAST_OF_PROCESSES
  return isOfProcesses || number === LOCALHOST ? PROCESSES : undefined
}

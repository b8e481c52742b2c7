/** How long a call to the engine may take. */
export interface CallDeadline {
  /** Time until the answer; for a stream, until the answer begins. */
  readonly answerMs: number
  /** For a stream: how long it may be silent after it has begun. Absent when silence is normal. */
  readonly idleMs?: number
}

const SECOND = 1000
const MINUTE = 60 * SECOND

/** The deadlines of all calls to the engine (docs/limits.md). */
export const CALL_DEADLINES = {
  ping: { answerMs: 5 * SECOND },
  /** Reads one object, or makes a small change to it. */
  short: { answerMs: 15 * SECOND },
  list: { answerMs: 30 * SECOND },
  /** Creates, starts, connects, pauses, ends or removes. The engine queues many concurrent changes. */
  change: { answerMs: MINUTE },
  /** Counts the bytes of all volumes. */
  measure: { answerMs: MINUTE },
  /** Copies files: a commit, an import, an archive. The engine sends nothing before the end. */
  copy: { answerMs: 10 * MINUTE },
  /** Reads images for a backup. The engine copies them to its disk before it sends the first byte. */
  save: { answerMs: 60 * MINUTE, idleMs: 5 * MINUTE },
  /** Stores the images or a volume of a backup. The engine sends nothing before it has read and unpacked all of them. */
  load: { answerMs: 120 * MINUTE },
  pull: { answerMs: 3 * MINUTE, idleMs: 3 * MINUTE },
  /** The silence is the longest run of one build command without output. */
  build: { answerMs: 2 * MINUTE, idleMs: 60 * MINUTE },
  export: { answerMs: MINUTE, idleMs: 2 * MINUTE },
  /** After the silence the reader lists and subscribes again. A connection that broke unnoticed is detected by then. */
  events: { answerMs: 15 * SECOND, idleMs: 5 * MINUTE },
  /** The caller sets the deadline of the reads. */
  attach: { answerMs: 15 * SECOND },
} satisfies Record<string, CallDeadline>

export type CallKind = keyof typeof CALL_DEADLINES
export type CallDeadlines = Readonly<Record<CallKind, CallDeadline>>

/** A call as dockerode passes it to its transport. */
export interface EngineCall {
  readonly method: string
  /** Without the API version. */
  readonly path: string
  /** The body if it is a stream. */
  readonly file?: unknown
  /** The parameters of the query. */
  readonly options?: unknown
}

const KINDS: readonly (readonly [CallKind, string, RegExp])[] = [
  ['ping', 'GET', /^\/_ping/],
  ['events', 'GET', /^\/events/],
  ['export', 'GET', /^\/containers\/[^/]+\/(?:export|archive)\b/],
  ['list', 'GET', /^\/(?:containers\/json|images\/json|networks|volumes)\??$/],
  ['list', 'GET', /^\/containers\/[^/]+\/changes$/],
  ['measure', 'GET', /^\/system\/df/],
  ['save', 'GET', /^\/images\/get\?/],
  ['change', 'POST', /^\/containers\/(?:create|[^/]+\/(?:start|stop|kill|restart|pause|unpause))\b/],
  ['change', 'POST', /^\/networks\/[^/]+\/connect\b/],
  ['change', 'DELETE', /^\/(?:containers|images|volumes|networks)\//],
  ['copy', 'POST', /^\/(?:commit|images\/load|containers\/[^/]+\/wait)\b/],
  ['copy', 'PUT', /^\/containers\/[^/]+\/archive/],
  ['attach', 'POST', /^\/containers\/[^/]+\/attach/],
  ['build', 'POST', /^\/build/],
]

export function callKind({ method, path, file, options }: EngineCall): CallKind {
  if (method === 'POST' && path.startsWith('/images/load') && isQuiet(options)) return 'load'
  if (method === 'PUT' && path.startsWith('/containers/') && isRestore(options)) return 'load'
  if (method === 'POST' && path.startsWith('/images/create')) return file === undefined ? 'pull' : 'copy'
  return KINDS.find(([, verb, pattern]) => verb === method && pattern.test(path))?.[0] ?? 'short'
}

/** Only a backup asks the engine to report nothing while it loads: it has images of any size. */
function isQuiet(options: unknown): boolean {
  return (options as { readonly quiet?: unknown } | null | undefined)?.quiet === true
}

/** Only a restore asks the engine to keep directories: it has volumes of any size. */
function isRestore(options: unknown): boolean {
  return (options as { readonly noOverwriteDirNonDir?: unknown } | null | undefined)?.noOverwriteDirNonDir !== undefined
}

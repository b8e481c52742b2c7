import { readFileSync } from 'node:fs'

/** What users' processes get where the daemon has 0; in the worst case they go first. */
const OOM_SCORE_ABOVE_DAEMON = 100
const MAX_OOM_SCORE = 1000
/** Shells differ in what they make of a command without a name. */
const NAMELESS_COMMAND = `if [ -z "$1" ]; then echo '--: exec: : not found' >&2; exit 127; fi`

/**
 * The shell script that becomes the user's command: `sh -c SCRIPT -- CMD ARGS...` (envd.md 8.3). Arguments are never parsed again, the pid stays,
 * the command is looked up in the process's own PATH, and one that cannot be run exits with 127 or 126. Where the script cannot do its
 * part the command does not run.
 */
export function readWrapperScript(): string {
  const score = Math.min(readNumber('/proc/self/oom_score_adj') + OOM_SCORE_ABOVE_DAEMON, MAX_OOM_SCORE)
  return [`echo ${score} >/proc/$$/oom_score_adj`, ...restoreFileLimit(), NAMELESS_COMMAND, 'exec "$@"'].join(' && ')
}

/** Node raises its own limit of open files to the hard one, which children would inherit; its parent still has the container's. */
function restoreFileLimit(): string[] {
  const [own, parent] = [readFileLimit('self'), readFileLimit(String(process.ppid))]
  return parent === undefined || own === parent ? [] : [`ulimit -Sn ${parent}`]
}

function readFileLimit(pid: string): string | undefined {
  try {
    return /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}

function readNumber(path: string): number {
  return Number(readFileSync(path, 'utf8'))
}

import { ConfigError } from '@sandyard/kit/config/parse-config'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { StartFailure } from './start-failure.ts'

export interface FailureReport {
  /** The printed text. */
  readonly sentence: string
  readonly exitCode: number
}

/** `EX_CONFIG` of sysexits.h. */
const CONFIG_EXIT_CODE = 78

/** Describes any failure for a person: one sentence, never a stack. `logFile` contains the details. */
export function describeFailure(error: unknown, logFile: string | undefined): FailureReport {
  if (error instanceof StartFailure) return { sentence: error.message, exitCode: error.exitCode }
  if (error instanceof ConfigError) return { sentence: error.message, exitCode: CONFIG_EXIT_CODE }
  const known = systemSentence(error)
  if (known !== undefined) return { sentence: known, exitCode: 1 }
  if (isAppError(error) && error.kind !== 'internal') return { sentence: error.message, exitCode: 1 }
  const where = logFile === undefined ? '' : ` (more in ${logFile})`
  return { sentence: `Sandyard could not continue: ${firstLine(error)}${where}.`, exitCode: 1 }
}

/** The sentence for a failure of the operating system, anywhere in the chain of causes. */
function systemSentence(error: unknown): string | undefined {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const { code, path, message } = cause as NodeJS.ErrnoException
    const place = path === undefined ? '' : ` (${path})`
    if (code === 'ENOSPC' || /no space left on device/i.test(message))
      return `The disk is full${place}: free some space and run this again.`
    if (code === 'EDQUOT') return `The disk quota of this user is used up${place}: free some space and run this again.`
    if (code === 'EROFS') return `The file system is read-only${place}: choose another data directory with SANDYARD_DATA_DIR.`
    if ((code === 'EACCES' || code === 'EPERM') && path !== undefined) {
      return `This user has not enough rights for ${path}: run this as its owner, or choose another data directory with SANDYARD_DATA_DIR.`
    }
    if (code === 'ENOTDIR' || code === 'EISDIR' || (code === 'EEXIST' && path !== undefined)) {
      return `${path ?? 'The data directory'} is not what it should be (${code}): move it away, or choose another data directory with SANDYARD_DATA_DIR.`
    }
  }
  return undefined
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return (text.split('\n')[0] ?? '').replace(/\.$/, '') || 'no reason was given'
}

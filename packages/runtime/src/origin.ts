import { AppError } from '@sandyard/kit/errors/app-error'

/** Where the handle of a paused sandbox or a snapshot was made. */
export interface Origin {
  /** `SandboxRuntime.name`. */
  readonly runtime: string
  /** The version of the format. */
  readonly version: number
  /** `SandboxRuntime.engineId`. */
  readonly engine: string
}

/**
 * Checks that this runtime can use what another process stored. `what` is its name in a sentence: `snapshot`.
 *
 * @throws AppError `failed_precondition` for another runtime, version or engine
 */
export function checkOrigin(what: string, found: Origin, own: Origin): void {
  if (found.runtime !== own.runtime)
    throw new AppError('failed_precondition', `This ${what} is of the runtime "${found.runtime}", and this server uses "${own.runtime}".`)
  if (found.version !== own.version)
    throw new AppError('failed_precondition', `This ${what} has the format ${found.version}, and this server uses format ${own.version}.`)
  if (found.engine !== own.engine) throw new AppError('failed_precondition', `This ${what} is on another engine.`)
}

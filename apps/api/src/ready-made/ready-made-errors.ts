import { AppError } from '@sandyard/kit/errors/app-error'

const RETRY_SECONDS = 5

/** Nothing was created, so clients that repeat requests by themselves may do so (clients-python-2.63.md). */
function notYet(message: string, retrySeconds: number): AppError {
  return new AppError('unavailable', message, { headers: { 'retry-after': String(retrySeconds), 'should-retry': 'true' } })
}

export function stillBuilding(name: string, { forMs, step, steps }: { forMs: number; step: number | undefined; steps: number }): AppError {
  const where = step === undefined ? '' : `, step ${step} of ${steps}`
  return notYet(
    `template '${name}' comes with this server and is being built for the first time (for ${Math.round(forMs / 1000)} s so far${where}): ` +
      `try again soon, or watch it with: sandyard templates install ${name}`,
    RETRY_SECONDS,
  )
}

export function couldNotBuild(name: string, reason: string, retryMs: number): AppError {
  const seconds = Math.max(1, Math.ceil(retryMs / 1000))
  return notYet(`template '${name}' comes with this server, but could not be built: ${reason} (it is tried again in ${seconds} s)`, seconds)
}

export function tooManyWait(name: string): AppError {
  return notYet(`template '${name}' is being built for the first time, and many requests wait for it: try again soon`, RETRY_SECONDS)
}

export function noReadyMade(name: string): AppError {
  return new AppError('not_found', `There is no ready-made template '${name}'`)
}

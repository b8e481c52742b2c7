import { AppError } from '@sandyard/kit/errors/app-error'

/** Why a Dockerfile cannot be built here, with the line that says so where there is one. */
export function dockerfileError(problem: string, line?: number): AppError {
  return new AppError('invalid_argument', line === undefined ? `Dockerfile: ${problem}` : `Dockerfile line ${line}: ${problem}`)
}

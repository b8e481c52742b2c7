import { AppError } from '@sandyard/kit/errors/app-error'
import { lifetimeTooLong } from './sandbox-errors.ts'

/** @throws AppError `invalid_argument` with the texts of control-plane.md 6.2.3 */
export function checkLifetime(seconds: number, maxSeconds: number): void {
  if (seconds <= 0) throw new AppError('invalid_argument', 'Timeout must be greater than 0')
  if (seconds > maxSeconds) throw lifetimeTooLong(maxSeconds)
}

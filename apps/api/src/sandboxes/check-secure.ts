import { AppError } from '@sandyard/kit/errors/app-error'

const FIRST_SECURE_VERSION = [0, 2, 0] as const
const DOCS = 'Please visit https://e2b.dev/docs/sandbox/secured-access for more information.'

/** @throws AppError `invalid_argument` when the build's daemon knows no tokens (control-plane.md 6.2.3) */
export function checkSecureSupport(envdVersion: string | undefined): void {
  if (envdVersion === undefined) {
    throw new AppError('invalid_argument', `You need to re-build template to allow using secured access. ${DOCS}`)
  }
  const parts = envdVersion.split('.').map((part) => Number.parseInt(part, 10))
  const order = FIRST_SECURE_VERSION.map((first, index) => Math.sign((parts[index] ?? 0) - first)).find((sign) => sign !== 0) ?? 0
  if (order < 0) throw new AppError('invalid_argument', `Template is not compatible with secured access. ${DOCS}`)
}

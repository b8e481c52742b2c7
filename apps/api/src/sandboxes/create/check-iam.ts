import type { NewSandbox } from '@sandyard/api-contract/sandboxes/new-sandbox'
import { AppError } from '@sandyard/kit/errors/app-error'
import { shorten } from '../../text/shorten.ts'

const MAX_TOKENS = 5

/** @throws AppError `invalid_argument` with the texts of control-plane.md 6.2.3 */
export function checkIam(iam: NewSandbox['iam']): void {
  const tokens = Object.entries(iam?.tokens ?? {})
  if (tokens.length > MAX_TOKENS) throw refused(`iam.tokens: too many tokens: ${tokens.length} (max ${MAX_TOKENS})`)
  for (const [name, { audience, tokenType }] of tokens) {
    if (name === '') throw refused('iam.tokens: token name must not be empty')
    if (audience === '') throw refused(`iam.tokens.${shorten(name)}.audience: audience is required`)
    if (tokenType !== 'JWT-SVID') throw refused(`iam.tokens.${shorten(name)}.tokenType: only "JWT-SVID" is supported`)
  }
}

function refused(message: string): AppError {
  return new AppError('invalid_argument', message)
}

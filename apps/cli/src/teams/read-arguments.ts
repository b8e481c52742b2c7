import { InvalidArgumentError } from 'commander'
import { EMAIL_PATTERN, MAX_EMAIL_LENGTH } from '@sandyard/api-contract/administration/email-bounds'

const MAX_NAME_LENGTH = 128
const MAX_REASON_LENGTH = 500
const EMAIL = new RegExp(EMAIL_PATTERN)

export function readTeamName(text: string): string {
  return bounded(text, MAX_NAME_LENGTH)
}

export function readReason(text: string): string {
  return bounded(text, MAX_REASON_LENGTH)
}

export function readEmail(text: string): string {
  if (!EMAIL.test(text) || text.length > MAX_EMAIL_LENGTH) throw new InvalidArgumentError('It must be an e-mail address.')
  return text
}

export function readSlug(text: string): string {
  if (!/^[a-z0-9-]{1,128}$/.test(text)) throw new InvalidArgumentError('It must have 1 to 128 lower-case letters, digits and hyphens.')
  return text
}

function bounded(text: string, most: number): string {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed.length > most) throw new InvalidArgumentError(`It must have 1 to ${most} characters.`)
  return trimmed
}

import { AppError } from '@sandyard/kit/errors/app-error'

const START = '${e2b.'
const PLACEHOLDER = /\$\{e2b\.(?:secrets\.(?<secret>[A-Za-z0-9_-]{1,128})|identity\.tokens\.[^{}]{1,128})\}/y

/** Whether a header value has a part that the server replaces, by a secret or an identity token. */
export function hasPlaceholder(value: string): boolean {
  return value.includes(START)
}

/**
 * The names of the secrets that a header value refers to, by `${e2b.secrets.<name>}` (control-plane.md 18.5).
 *
 * @throws AppError `invalid_argument` for a malformed placeholder
 */
export function readSecretNames(value: string): string[] {
  const names: string[] = []
  for (let at = value.indexOf(START); at !== -1; at = value.indexOf(START, at + 1)) {
    PLACEHOLDER.lastIndex = at
    const found = PLACEHOLDER.exec(value)
    if (found === null) throw new AppError('invalid_argument', 'Network transform header contains a malformed E2B placeholder.')
    // The names of secrets do not differ by case.
    const name = found.groups?.['secret']?.toLowerCase()
    if (name !== undefined) names.push(name)
  }
  return names
}

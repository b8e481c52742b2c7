import { SandboxNetwork, type NewSandbox } from '@sandyard/api-contract/sandboxes/new-sandbox'
import { AppError } from '@sandyard/kit/errors/app-error'
import { shorten } from '../text/shorten.ts'
import { UnservedFieldError } from './unserved-field.ts'

/**
 * Refuses what a create asks for beyond its defaults and is not done yet: an accepted field that does nothing would be a lie. The
 * documented argument errors come first (control-plane.md 6.2.3).
 *
 * @throws AppError `invalid_argument`; UnservedFieldError, which names the field
 */
export function checkServedFields(body: NewSandbox): void {
  const autoResume = body.autoResume?.enabled === true
  if (body.autoPauseMemory === false && body.autoPause !== true) {
    throw new AppError('invalid_argument', 'autoPauseMemory=false only applies when autoPause is true.')
  }
  if (body.autoPauseMemory === false && autoResume) {
    throw new AppError(
      'invalid_argument',
      'autoPauseMemory=false (filesystem-only auto-pause) cannot be combined with autoResume: a filesystem-only snapshot cannot be auto-resumed by traffic and must be resumed explicitly.',
    )
  }
  const unserved = [
    body.autoPause === true && 'autoPause',
    autoResume && 'autoResume',
    body.allow_internet_access === false && 'allow_internet_access',
    unservedNetworkField(body.network),
    isFilled(body.mcp) && 'mcp',
    isFilled(body.iam?.tokens) && 'iam',
    isFilled(body.volumeMounts) && 'volumeMounts',
  ].find((field) => typeof field === 'string')
  if (unserved !== undefined) throw new UnservedFieldError(unserved)
}

const NETWORK_FIELDS = Object.keys(SandboxNetwork.properties) as (keyof SandboxNetwork)[]

/**
 * Public traffic and empty lists are the defaults, which older clients spell out. Only fields of the interface are looked at: the
 * name becomes a label of a metric.
 */
function unservedNetworkField(network: SandboxNetwork = {}): string | undefined {
  const field = NETWORK_FIELDS.find((name) =>
    name === 'allowPublicTraffic' ? network[name] === false : Object.hasOwn(network, name) && isFilled(network[name]),
  )
  return field && `network.${field}`
}

function isFilled(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  return typeof value === 'object' ? Object.keys(value).length > 0 : true
}

/**
 * Texts that neither the database nor a process can hold: NUL and halves of surrogate pairs, and names of variables that no
 * environment can have.
 *
 * @throws AppError `invalid_argument`, which names the field
 */
export function checkTexts({ metadata = {}, envVars = {} }: NewSandbox): void {
  for (const [field, pairs] of Object.entries({ metadata, envVars })) {
    for (const text of Object.entries(pairs).flat()) {
      if (text.includes('\0') || !text.isWellFormed()) {
        throw new AppError('invalid_argument', `validation error: ${field} must not contain NUL or unpaired surrogates`)
      }
    }
  }
  const bad = Object.keys(envVars).find((name) => name === '' || name.includes('='))
  if (bad !== undefined) throw new AppError('invalid_argument', `validation error: envVars has the invalid name '${shorten(bad)}'`)
}

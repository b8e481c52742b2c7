import { SandboxNetwork, type NewSandbox } from '@sandyard/api-contract/sandboxes/new-sandbox'
import { AppError } from '@sandyard/kit/errors/app-error'
import { shorten } from '../text/shorten.ts'
import { UnservedFieldError } from '../metrics/unserved-field.ts'

/**
 * Refuses fields that are not supported yet, unless they have their default value: a field must not be accepted without effect. The
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
 * Public traffic and empty lists are the defaults, which older clients send explicitly. Checks only fields of the interface, because the
 * name becomes a metric label.
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

/** Cap for `metadata` and for `envVars`, keys and values together. Each is stored, listed and sent to the sandbox whole. */
const MAX_PAIRS_BYTES = 64 * 1024
const MAX_PAIRS = 1024

/**
 * Refuses `metadata` and `envVars` that are too large, texts that the database and processes cannot store (with NUL or unpaired
 * surrogates), and invalid variable names.
 *
 * @throws AppError `invalid_argument`, which names the field
 */
export function checkTexts({ metadata = {}, envVars = {} }: NewSandbox): void {
  for (const [field, pairs] of Object.entries({ metadata, envVars })) {
    checkPairsSize(field, pairs)
    for (const text of Object.entries(pairs).flat()) {
      if (text.includes('\0') || !text.isWellFormed()) {
        throw new AppError('invalid_argument', `validation error: ${field} must not contain NUL or unpaired surrogates`)
      }
    }
  }
  const bad = Object.keys(envVars).find((name) => name === '' || name.includes('='))
  if (bad !== undefined) throw new AppError('invalid_argument', `validation error: envVars has the invalid name '${shorten(bad)}'`)
}

function checkPairsSize(field: string, pairs: Readonly<Record<string, string>>): void {
  const entries = Object.entries(pairs)
  if (entries.length > MAX_PAIRS)
    throw new AppError('invalid_argument', `validation error: ${field} must not have more than ${MAX_PAIRS} keys`)
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  if (bytes > MAX_PAIRS_BYTES) {
    throw new AppError('invalid_argument', `validation error: ${field} must not have more than ${MAX_PAIRS_BYTES / 1024} KiB`)
  }
}

const FIRST_SECURE_VERSION = [0, 2, 0] as const
const DOCS = 'Please visit https://e2b.dev/docs/sandbox/secured-access for more information.'

/** @throws AppError `invalid_argument` when the build's daemon does not support tokens (control-plane.md 6.2.3) */
export function checkSecureSupport(envdVersion: string | undefined): void {
  if (envdVersion === undefined) {
    throw new AppError('invalid_argument', `You need to re-build template to allow using secured access. ${DOCS}`)
  }
  const parts = envdVersion.split('.').map((part) => Number.parseInt(part, 10))
  const order = FIRST_SECURE_VERSION.map((first, index) => Math.sign((parts[index] ?? 0) - first)).find((sign) => sign !== 0) ?? 0
  if (order < 0) throw new AppError('invalid_argument', `Template is not compatible with secured access. ${DOCS}`)
}

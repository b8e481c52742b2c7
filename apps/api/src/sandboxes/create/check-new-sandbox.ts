import type { NewSandbox } from '@sandyard/api-contract/sandboxes/new-sandbox'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isOlderVersion } from '../../daemon/daemon-version.ts'
import { UnservedFieldError } from '../../metrics/unserved-field.ts'
import { isStorable } from '../../text/is-storable.ts'
import { shorten } from '../../text/shorten.ts'
import { type EgressCapabilities, unservedEgressField } from '../network/served-egress.ts'
import { isPublic } from '../network/stored-network.ts'

/** @throws AppError `invalid_argument` with the texts of control-plane.md 6.2.3 */
export function checkAutoPause({ autoPause, autoPauseMemory, autoResume }: NewSandbox): void {
  if (autoPauseMemory !== false) return
  if (autoPause !== true) {
    throw new AppError('invalid_argument', 'autoPauseMemory=false only applies when autoPause is true.')
  }
  if (autoResume?.enabled === true) {
    throw new AppError(
      'invalid_argument',
      'autoPauseMemory=false (filesystem-only auto-pause) cannot be combined with autoResume: a filesystem-only snapshot cannot be auto-resumed by traffic and must be resumed explicitly.',
    )
  }
}

/** @throws AppError `invalid_argument`: a traffic token protects nothing that has no access token (control-plane.md 6.2.3) */
export function checkPublicTraffic(network: NewSandbox['network'], isSecure: boolean): void {
  if (isPublic(network) || isSecure) return
  throw new AppError(
    'invalid_argument',
    "You cannot create a sandbox without public access unless you enable secure envd access via 'secure' flag.",
  )
}

/**
 * Refuses fields that are not supported yet, unless they have their default value: a field must not be accepted without effect. Runs after
 * all documented argument errors.
 *
 * @throws UnservedFieldError, which names the field
 */
export function checkServedFields(body: NewSandbox, has: EgressCapabilities): void {
  const egress = unservedEgressField(body.network ?? {}, has)
  const unserved = [
    body.allow_internet_access === false && !has.egressPolicies && 'allow_internet_access',
    egress !== undefined && `network.${egress}`,
  ].find((field) => typeof field === 'string')
  if (unserved !== undefined) throw new UnservedFieldError(unserved)
}

/** Cap for each of `metadata`, `envVars`, `mcp` and `iam`, keys and values together. Each is stored, listed or sent to the sandbox whole. */
const MAX_FIELD_BYTES = 64 * 1024
const MAX_PAIRS = 1024

/**
 * Refuses `metadata`, `envVars`, `mcp` and `iam` that are too large, texts that the database and processes cannot store, and invalid variable
 * names.
 *
 * @throws AppError `invalid_argument`, which names the field
 */
export function checkTexts({ metadata = {}, envVars = {}, mcp, iam = {} }: NewSandbox): void {
  for (const [field, value] of Object.entries({ metadata, envVars, mcp: mcp ?? {}, iam })) {
    const problem = textProblem(value)
    if (problem !== undefined) throw new AppError('invalid_argument', `validation error: ${field} must not ${problem}`)
  }
  const bad = Object.keys(envVars).find((name) => name === '' || name.includes('='))
  if (bad !== undefined) throw new AppError('invalid_argument', `validation error: envVars has the invalid name '${shorten(bad)}'`)
}

function textProblem(value: Readonly<Record<string, unknown>>): string | undefined {
  if (Object.keys(value).length > MAX_PAIRS) return `have more than ${MAX_PAIRS} keys`
  if (sizeOf(value) > MAX_FIELD_BYTES) return `have more than ${MAX_FIELD_BYTES / 1024} KiB`
  return isStorable(value) ? undefined : 'contain NUL or unpaired surrogates'
}

/** Bytes of the texts, and those of other values as they are written. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null) return String(value).length
  return Object.entries(value).reduce((sum, [key, item]) => sum + Buffer.byteLength(key) + sizeOf(item), 0)
}

const FIRST_SECURE_VERSION = '0.2.0'
const DOCS = 'Please visit https://e2b.dev/docs/sandbox/secured-access for more information.'

/** @throws AppError `invalid_argument` when the build's daemon does not support tokens (control-plane.md 6.2.3) */
export function checkSecureSupport(envdVersion: string | undefined): void {
  if (envdVersion === undefined) {
    throw new AppError('invalid_argument', `You need to re-build template to allow using secured access. ${DOCS}`)
  }
  if (isOlderVersion(envdVersion, FIRST_SECURE_VERSION)) {
    throw new AppError('invalid_argument', `Template is not compatible with secured access. ${DOCS}`)
  }
}

import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { statusOf, toAppError } from '../../engine/docker-errors.ts'
import type { ImageReference } from '../image-reference.ts'

const NO_REPOSITORY = /name unknown|repository name not known|repository .*(?:not found|does not exist)/i
const DENIED =
  /unauthorized|denied|forbidden|no basic auth credentials|authentication required|authorization failed|incorrect username or password/i
const NO_IMAGE = /manifest unknown|manifest for .* not found|not found/i
const NO_PLATFORM = /no matching manifest|does not match the specified platform/i
const TOO_MANY = /toomanyrequests|too many requests|rate limit/i
const UNREACHABLE =
  /dial tcp|no such host|connection refused|connection reset|network is unreachable|no route to host|timeout|deadline exceeded|i\/o|x509|tls|EOF|server gave HTTP response|received unexpected HTTP status: 5|proxyconnect/i
const NO_REGISTRY = /error parsing HTTP \d{3} response body/i

export function imageNotFound(text: string, cause?: unknown): AppError {
  return new AppError('not_found', `image '${text}' not found: the image or tag does not exist in the registry`, { cause })
}

export function registryUnreachable(text: string, cause?: unknown): AppError {
  return new AppError('unavailable', `the registry of '${text}' cannot be reached: try again later`, { cause })
}

/** The engine connects from the host, and servers there may trust its networks. */
export function registryLocal(text: string): AppError {
  return new AppError(
    'permission_denied',
    `access denied to '${text}': its registry is at an address of the host or a private network, and SANDYARD_REGISTRIES does not list it`,
  )
}

/** The operator's list does not contain the registry. */
export function registryClosed(text: string): AppError {
  return new AppError(
    'permission_denied',
    `access denied to '${text}': this server does not use images of that registry (SANDYARD_REGISTRIES)`,
  )
}

/** Converts a registry's error, which the engine reports, to the texts of control-plane.md 11.9. The engine's text is in `cause` only. */
export function toRegistryError(err: unknown, { text }: ImageReference, withCredentials: boolean): AppError {
  if (isAppError(err)) return err
  const reported = err instanceof Error ? err.message : String(err)
  const status = statusOf(err)
  if (status === 401 || status === 403 || DENIED.test(reported)) return accessDenied(text, withCredentials, err)
  if (NO_REPOSITORY.test(reported)) {
    return new AppError('not_found', `repository '${text}' not found: it does not exist in the registry`, { cause: err })
  }
  if (NO_PLATFORM.test(reported)) {
    return new AppError('failed_precondition', `image '${text}' does not exist for the processor of this host`, { cause: err })
  }
  if (TOO_MANY.test(reported)) {
    return new AppError('unavailable', `the registry of '${text}' has a rate limit that is reached: try again later`, { cause: err })
  }
  if (NO_REGISTRY.test(reported)) return new AppError('unavailable', `the server of '${text}' is not a registry`, { cause: err })
  if (status === 404) return imageNotFound(text, err)
  if (UNREACHABLE.test(reported)) return registryUnreachable(text, err)
  if (NO_IMAGE.test(reported)) return imageNotFound(text, err)
  return toAppError(err, `image '${text}' could not be pulled`)
}

/** Many registries answer the same for a private repository and for an absent one. */
function accessDenied(text: string, withCredentials: boolean, cause: unknown): AppError {
  const why = withCredentials ? 'the registry refused the credentials' : 'it is private or does not exist; private images need credentials'
  return new AppError('permission_denied', `access denied to '${text}': ${why}`, { cause })
}

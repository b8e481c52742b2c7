import { AppError } from '@sandyard/kit/errors/app-error'

/** The fixed texts of control-plane.md 16. They say nothing about what was sent. */

export function invalidSecretsRequest(): AppError {
  return new AppError('invalid_argument', 'Invalid secrets request')
}

export function secretsUnavailable(): AppError {
  return new AppError('permission_denied', 'Secrets are not available for this team')
}

export function secretNotFound(): AppError {
  return new AppError('not_found', 'Secret not found')
}

/** The name is taken, or the team has as many secrets as it may have. */
export function secretConflict(reason?: 'secret_limit_reached'): AppError {
  return new AppError('conflict', 'Secret cannot be modified in its current state', { ...(reason !== undefined && { reason }) })
}

export function secretsBackendFailed(headers: Readonly<Record<string, string>>): AppError {
  return new AppError('bad_gateway', 'Secrets backend error', { headers })
}

export function secretsBackendTimedOut(headers: Readonly<Record<string, string>>): AppError {
  return new AppError('deadline_exceeded', 'Secrets backend timed out', { headers })
}

import type { AuthConfig } from 'dockerode'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { RegistryCredentials } from '@sandyard/runtime/image-store'
import type { ImageReference } from '../image-reference.ts'
import { fetchEcrLogin, type EcrRequest } from './ecr-login.ts'

/** With this user name Google's registries accept the key of a service account as the password. */
const GCP_USERNAME = '_json_key'

export type LoginOptions = EcrRequest

/**
 * The login for the registry of an image, in the form of the engine.
 *
 * @throws AppError `invalid_argument` for malformed credentials, `permission_denied` when AWS refuses them, `unavailable` when AWS
 * does not answer; the abort reason
 */
export async function registryLogin(
  reference: ImageReference,
  credentials: RegistryCredentials,
  options: LoginOptions,
): Promise<AuthConfig> {
  const login = await usernameAndPassword(reference, credentials, options)
  return { ...login, serveraddress: reference.registry }
}

async function usernameAndPassword(
  reference: ImageReference,
  credentials: RegistryCredentials,
  options: LoginOptions,
): Promise<{ username: string; password: string }> {
  switch (credentials.type) {
    case 'registry':
      return { username: credentials.username, password: credentials.password }
    case 'gcp':
      checkServiceAccount(credentials.serviceAccountJson)
      return { username: GCP_USERNAME, password: credentials.serviceAccountJson }
    case 'aws':
      return fetchEcrLogin(reference, credentials, options)
  }
}

/** The error of the parser is dropped, because it quotes the key. */
function checkServiceAccount(json: string): void {
  let account: unknown
  try {
    account = JSON.parse(json)
  } catch {
    account = undefined
  }
  if (typeof account !== 'object' || account === null || Array.isArray(account)) {
    throw new AppError('invalid_argument', 'The service account of the registry is not a JSON object.')
  }
}

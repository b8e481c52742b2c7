import { findCredentials } from '@sandyard/api/program/data/credentials'
import type { DataDirectory } from '@sandyard/api/program/data/data-directory'
import { ApiClient, ApiRefusal } from '../api-client.ts'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'

/**
 * Checks that the API is that of the server with this data directory: it accepts the key of the directory, which no other server has.
 *
 * @throws CliFailure `refused` for another server; those of `ApiClient`
 */
export async function assertOwnApi({ connection: { apiUrl }, signal }: CliParts, directory: DataDirectory): Promise<void> {
  const apiKey = findCredentials(directory.credentialsFile)?.apiKey
  if (apiKey !== undefined && (await accepts(new ApiClient({ apiUrl, apiKey, isKeyGiven: false, directory }, signal)))) return
  throw new CliFailure(
    EXIT.refused,
    `The API at ${apiUrl} is not that of the server with the data in ${directory.path}: correct E2B_API_URL or SANDYARD_DATA_DIR, or leave --kill out.`,
  )
}

async function accepts(api: ApiClient): Promise<boolean> {
  try {
    await api.call('listSandboxesV2', { query: { limit: 1 } })
    return true
  } catch (err) {
    if (err instanceof ApiRefusal && err.status === 401) return false
    throw err
  }
}

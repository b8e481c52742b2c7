import type { Database } from '@sandyard/db/database'
import { seedBaseTemplate } from '@sandyard/api/seed/seed-base-template'
import { reissueCredentials, seedIdentity } from '@sandyard/api/seed/seed-identity'
import type { ImageRef } from '@sandyard/runtime/types'
import { findCredentials, keepCredentials, type Credentials } from './data/credentials.ts'
import type { StartedApi } from './api.ts'
import type { StartParts } from './start-all.ts'

const TEAM = 'Local'
const USER = 'user@localhost'
const MIB = 1024 ** 2

export interface Identity {
  readonly team: string
  readonly user: string
  readonly teamId: string
  readonly userId: string
  /** Undefined when the raw ones of the database are not known here. */
  readonly credentials: Credentials | undefined
}

/** The team, the user and the template that a fresh server has. What an earlier start made is found again. */
export async function seed({ config, directory }: StartParts, database: Database, base: ImageRef): Promise<Identity> {
  const { teamId, userId, credentials: made } = await seedIdentity(database, { teamName: TEAM, email: USER })
  const file = directory.credentialsFile
  const credentials = made === undefined ? findCredentials(file) : keepCredentials(file, made)
  const { baseCpuCount: cpuCount, baseMemory, baseDisk } = config
  const sizes = { cpuCount, memoryMib: Math.floor(baseMemory / MIB), diskMib: Math.floor(baseDisk / MIB) }
  await seedBaseTemplate(database, { teamId, userId, image: base, ...sizes })
  return { team: TEAM, user: USER, teamId, userId, credentials }
}

/**
 * Credentials that the server accepts. Those of the file are asked about, because the file and the database can be of different origin
 * (a restored copy, another DATABASE_URL); where they are lost or wrong, new ones take their place and the old ones end.
 */
export async function confirmCredentials(
  { directory, terminal }: StartParts,
  database: Database,
  { identity, api }: { readonly identity: Identity; readonly api: StartedApi },
): Promise<Credentials> {
  const { credentials } = identity
  if (credentials !== undefined && (await api.acceptsKey(credentials.apiKey.reveal()))) return credentials
  terminal.step(
    `credentials: ${directory.credentialsFile} was lost or is of another database; there are new ones, and the old ones do not work any more`,
  )
  return keepCredentials(directory.credentialsFile, await reissueCredentials(database, identity))
}

import type { Database } from '@sandyard/db/database'
import type { ImageRef } from '@sandyard/runtime/types'
import { findCredentials, keepCredentials, type Credentials } from './data/credentials.ts'
import { seedBaseTemplate } from '../seed/seed-base-template.ts'
import { issueFurtherCredentials, seedIdentity } from '../seed/seed-identity.ts'
import type { StartedApi } from './open-api.ts'
import type { ProgramParts } from './program-parts.ts'

const TEAM = 'Local'
const USER = 'user@localhost'
const MIB = 1024 ** 2

export interface Identity {
  readonly team: string
  readonly user: string
  readonly teamId: string
  readonly userId: string
  /** Undefined when this server does not have the raw ones. */
  readonly credentials: Credentials | undefined
}

/** Creates the team, the user and the template of a fresh server, or finds those of an earlier start. */
export async function seed({ config, directory }: ProgramParts, database: Database, base: ImageRef): Promise<Identity> {
  const { teamId, userId, credentials: made } = await seedIdentity(database, { teamName: TEAM, email: USER })
  const file = directory.credentialsFile
  const credentials = made === undefined ? findCredentials(file) : keepCredentials(file, made)
  const { baseCpuCount: cpuCount, baseMemory, baseDisk } = config
  const sizes = { cpuCount, memoryMib: Math.floor(baseMemory / MIB), diskMib: Math.floor(baseDisk / MIB) }
  await seedBaseTemplate(database, { teamId, userId, image: base, ...sizes })
  return { team: TEAM, user: USER, teamId, userId, credentials }
}

/**
 * Returns credentials that the server accepts. Those of the file are checked, because the file and the database may not belong together
 * (a restored copy, another DATABASE_URL). If they are lost or wrong, further ones are made. The former ones stay valid.
 */
export async function confirmCredentials(
  { directory, progress }: ProgramParts,
  database: Database,
  { identity, api }: { readonly identity: Identity; readonly api: StartedApi },
): Promise<Credentials> {
  const { credentials } = identity
  if (credentials !== undefined && (await api.acceptsKey(credentials.apiKey.reveal()))) return credentials
  progress.step(
    `credentials: ${directory.credentialsFile} did not have the key of this database; it now has a further key, and the former keys stay valid`,
  )
  return keepCredentials(directory.credentialsFile, await issueFurtherCredentials(database, identity))
}

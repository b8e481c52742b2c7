import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openOwnerRecords } from '../../../../apps/api/src/servers/owner-records.ts'
import { silentLogger } from '../../../../packages/kit/src/logging/create-logger.ts'
import { Guard } from '../../../../packages/runtime-docker/src/egress/guard.ts'
import { guardImage } from '../../../../packages/runtime-docker/src/egress/guard-image.ts'
import { listingOf, readRegistration } from '../../../../packages/runtime-docker/src/egress/read-registration.ts'
import { connectEngine } from '../../../../packages/runtime-docker/src/engine/connect-engine.ts'
import { roleFilter } from '../../../../packages/runtime-docker/src/labels.ts'
import { SandboxNetwork } from '../../../../packages/runtime-docker/src/network/sandbox-network.ts'
import { findOrphans } from '../../../../packages/runtime-docker/src/upkeep/orphans.ts'
import type { ChaosStack } from '../stack/chaos-stack.ts'
import { socketsTo } from './sockets.ts'
import { findUnfinished, openDatabase } from './unfinished.ts'

const DAY_MS = 24 * 3_600_000

/** Everything that is left of sandboxes, builds and dead servers when nothing exists any more that a client could name. */
export async function findLeftovers(stack: ChaosStack): Promise<string[]> {
  return [
    ...(await findUnfinished(stack.postgres.url)),
    ...(await findOnEngine(stack)),
    ...(await findRules(stack)),
    ...(await findSockets(stack)),
    ...readdirSync(join(stack.folder, 'uploads')).map((name) => `the file uploads/${name}`),
  ]
}

/** What has no owner on the engine, however young it is. */
async function findOnEngine({ engine, installation, postgres }: ChaosStack): Promise<string[]> {
  const docker = await connectEngine(engine)
  await using database = openDatabase(postgres.url)
  const records = await openOwnerRecords(database.db)
  const orphans = await findOrphans({ docker, installation }, records, Date.now() + 2 * DAY_MS)
  const sandboxes = await docker.listContainers({ all: true, filters: roleFilter(installation, 'sandbox') })
  return [
    ...orphans.map(({ kind, name, reason }) => `the ${kind} ${name}: ${reason}`),
    ...sandboxes.map(({ Names, State }) => `the container ${Names[0]} (${State})`),
  ]
}

/** Registrations of sandboxes in the tables of nftables. */
async function findRules({ engine, installation }: ChaosStack): Promise<string[]> {
  const ignore = { onHost: () => undefined, onLost: () => undefined, onRefused: () => undefined }
  const options = { installation, image: await guardImage(), log: silentLogger(), ...ignore }
  await using guard = await Guard.start(await connectEngine(engine), options)
  const registration = readRegistration(await guard.list(listingOf(installation)))
  if (registration === undefined) return ['the egress rules are not in force']
  const { bound, chains, marks } = registration
  return [
    ...bound.map(({ address }) => `the address ${address} is registered in the egress rules`),
    ...[...chains.keys()].map((address) => `the egress rules have a verdict for ${address}`),
    ...[...marks.keys()].map((chain) => `the egress rules have the chain ${chain}`),
  ]
}

/** Connections of servers and proxies to sandboxes. */
async function findSockets({ engine, installation, programs }: ChaosStack): Promise<string[]> {
  const network = await new SandboxNetwork(await connectEngine(engine), installation).find()
  if (network === undefined) return ['the sandbox network is missing']
  return programs.flatMap(({ name, pid }) => socketsTo(pid, network).map((socket) => `a socket of ${name}: ${socket}`))
}

import { afterAll, beforeAll, expect, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import { connectEngine } from '../src/engine/connect-engine.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from '../src/engine/empty-image.ts'
import { tagImage } from '../src/images/kept-images.ts'
import { bridgeName, keptImage, LABEL, networkName, sandboxLabels } from '../src/labels.ts'
import { removeInstallations } from '../src/remove-installation.ts'
import { findOrphans, removeOrphan, type OwnerRecords } from '../src/upkeep/orphans.ts'
import { ENGINE } from './support/engine-bench.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const run = randomId(8)
const [own, other] = [`test-${run}-a`, `test-${run}-b`]

let docker: Docker
beforeAll(async () => {
  docker = await connectEngine(ENGINE)
  await ensureEmptyImage(docker)
})
afterAll(() => removeInstallations(docker, [own, other]))

async function createContainer(labels: Record<string, string>): Promise<string> {
  const { id } = await docker.createContainer({ name: `sandyard-test-${randomId(12)}`, Image: EMPTY_IMAGE, Cmd: ['-'], Labels: labels })
  return id
}

async function createImage(installation: string, ageMs: number): Promise<string> {
  const name = keptImage(installation, new Date(Date.now() - ageMs), randomId(16))
  await tagImage(docker, EMPTY_IMAGE, name)
  return name
}

async function createNetwork(installation: string): Promise<string> {
  const { id } = await docker.createNetwork({
    Name: networkName(installation),
    Driver: 'bridge',
    Labels: { [LABEL.installation]: installation, [LABEL.role]: 'network' },
    Options: { 'com.docker.network.bridge.name': bridgeName(installation) },
  })
  return id
}

async function exists(id: string): Promise<boolean> {
  const found = await Promise.allSettled([
    docker.getContainer(id).inspect(),
    docker.getImage(id).inspect(),
    docker.getNetwork(id).inspect(),
  ])
  return found.some(({ status }) => status === 'fulfilled')
}

it('finds what nothing of the installation uses, never objects of another one, and removes it', async () => {
  const sandbox = (installation: string, sandboxId: string): Promise<string> =>
    createContainer(sandboxLabels(installation, { sandboxId, incarnation: 1 }))
  const [orphan, owned, others] = [await sandbox(own, 'iorphan'), await sandbox(own, 'iowned'), await sandbox(other, 'iother')]
  const helper = await createContainer({ [LABEL.installation]: own, [LABEL.role]: 'guard' })
  const [unneeded, needed] = [await createImage(own, 2 * DAY_MS), await createImage(own, 2 * DAY_MS)]
  const [young, foreign] = [await createImage(own, 0), await createImage(other, 2 * DAY_MS)]
  const [network, foreignNetwork] = [await createNetwork(own), await createNetwork(other)]
  const records: OwnerRecords = {
    unownedSandboxes: async (refs) => refs.filter(({ sandboxId }) => sandboxId !== 'iowned'),
    unneededImages: async (images) => images.filter((image) => image !== needed),
    hasServer: async () => false,
  }
  const parts = { docker, installation: own }
  const idsAt = async (afterMs: number): Promise<string[]> =>
    (await findOrphans(parts, records, Date.now() + afterMs)).map(({ id }) => id).sort()

  expect(await idsAt(0), 'containers may belong to work in progress').toEqual([unneeded])
  expect(await idsAt(DAY_MS / 2)).toEqual([orphan, helper, unneeded].sort())
  for (const found of await findOrphans(parts, records, Date.now() + DAY_MS / 2)) await removeOrphan(parts, found)
  for (const id of [orphan, helper, unneeded]) expect(await exists(id), id).toBe(false)
  for (const id of [owned, others, needed, young, foreign, network, foreignNetwork]) expect(await exists(id), id).toBe(true)

  await docker.getContainer(owned).remove({ force: true })
  expect((await findOrphans(parts, { ...records, hasServer: async () => true })).map(({ kind }) => kind)).toEqual([])
  const [last, ...more] = await findOrphans(parts, records)
  expect({ last, more }).toMatchObject({ last: { kind: 'network', id: network }, more: [] })
  if (last !== undefined) await removeOrphan(parts, last)
  expect([await exists(network), await exists(foreignNetwork)]).toEqual([false, true])
})

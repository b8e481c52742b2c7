import { randomUUID } from 'node:crypto'
import type { Sandbox, SnapshotListOpts } from 'e2b'
import { afterAll, describe, expect, test } from 'vitest'
import { callApi } from '../support/api.ts'
import { countLines, startCounter } from '../support/counter.ts'
import { e2b245, e2b251, type Sdk } from '../support/sdks.ts'
import { removeTemplatesNamed, templateName } from '../support/templates.ts'

const operations = [
  '[POST /sandboxes/{sandboxID}/snapshots] [GET /snapshots] [DELETE /templates/{templateID}] [GET /templates/{templateID}/tags]',
  '[POST /sandboxes/{sandboxID}/fork]',
].join(' ')

const FILE = '/home/user/state'

describe.each<[string, Sdk, string]>([
  ['e2b 2.51.0', e2b251, '[POST /v2/sandboxes]'],
  ['e2b 2.45.0', e2b245, '[POST /sandboxes]'],
])('%s', (_, { Sandbox: Client, SandboxNotFoundError }, route) => {
  const name = templateName('snapshot')
  afterAll(() => removeTemplatesNamed(name))

  async function listed(options: SnapshotListOpts): Promise<string[]> {
    const pages = Client.listSnapshots({ limit: 1, ...options })
    const ids: string[] = []
    while (pages.hasNext) ids.push(...(await pages.nextItems()).map(({ snapshotId }) => snapshotId))
    return ids
  }

  /** The state in a sandbox that is created from each template, side by side. */
  async function statesOf(...templates: string[]): Promise<string[]> {
    return Promise.all(
      templates.map(async (template) => {
        const sandbox = await Client.create(template)
        try {
          return await sandbox.files.read(FILE)
        } finally {
          await sandbox.kill()
        }
      }),
    )
  }

  async function withSource(work: (source: Sandbox, metadata: Record<string, string>) => Promise<void>): Promise<void> {
    const metadata = { run: randomUUID() }
    const source = await Client.create({ metadata, timeoutMs: 200_000 })
    try {
      await work(source, metadata)
    } finally {
      await source.kill()
    }
  }

  test(`${route} ${operations} snapshots are taken, found by id, name and tag, replaced, listed and deleted`, async () => {
    await withSource(async (source) => {
      const counter = await startCounter(source)
      const { endAt, startedAt } = await source.getInfo()

      await source.files.write(FILE, 'one')
      const unnamed = await source.createSnapshot()
      expect(unnamed).toEqual({ snapshotId: expect.stringMatching(/^[a-z0-9]{20}:default$/), names: [] })
      const named = await source.createSnapshot({ name })
      const fullName = named.names[0] ?? ''
      expect(fullName).toMatch(new RegExp(`^[a-z0-9-]+/${name}$`))
      expect(named).toEqual({ snapshotId: `${fullName}:default`, names: [fullName] })
      await source.files.write(FILE, 'two')
      const tagged = await Client.createSnapshot(source.sandboxId, { name: `${name}:v2` })
      expect(tagged).toEqual({ snapshotId: `${fullName}:v2`, names: [fullName] })
      expect(await statesOf(unnamed.snapshotId, named.snapshotId, name, `${name}:v2`)).toEqual(['one', 'one', 'one', 'two'])

      await source.files.write(FILE, 'three')
      expect(await source.createSnapshot({ name })).toEqual(named)
      expect(await statesOf(name, fullName, tagged.snapshotId)).toEqual(['three', 'three', 'two'])

      expect(await listed({ sandboxId: source.sandboxId })).toEqual([named.snapshotId, unnamed.snapshotId])
      expect(await listed({ name })).toEqual([named.snapshotId])
      expect(await listed({ name: `${name}:v2` })).toEqual([tagged.snapshotId])
      expect(await listed({ name: `${fullName}:default`, sandboxId: source.sandboxId })).toEqual([named.snapshotId])
      expect(await listed({ name: `${name}:v9` })).toEqual([])
      expect(await listed({ name: `${name}-other` })).toEqual([])

      // The source runs on as it was.
      expect(await source.files.read(FILE)).toBe('three')
      expect(await source.getInfo()).toMatchObject({ state: 'running', startedAt, endAt })
      await counter.continuesAfter(await countLines(source))

      const tags = JSON.parse((await callApi(`GET /templates/${encodeURIComponent(fullName)}/tags`)).text) as { tag: string }[]
      expect(tags.map(({ tag }) => tag).toSorted()).toEqual(['default', 'v2'])
      const templates = JSON.parse((await callApi('GET /templates')).text) as { names: string[] }[]
      expect(templates.filter(({ names }) => names.includes(fullName))).toEqual([])

      expect(await Client.deleteSnapshot(tagged.snapshotId)).toBe(true)
      expect(await Client.deleteSnapshot(tagged.snapshotId)).toBe(false)
      // An id stays reserved, so a repeated delete of it succeeds (control-plane.md 9.6).
      expect(await Client.deleteSnapshot(unnamed.snapshotId)).toBe(true)
      expect(await Client.deleteSnapshot(unnamed.snapshotId)).toBe(true)
      expect(await listed({ sandboxId: source.sandboxId })).toEqual([])
      await expect(Client.create(name)).rejects.toThrow(`404: template '${name}' not found`)
    })
    await expect(Client.createSnapshot('i00000000000000000000')).rejects.toThrow(SandboxNotFoundError)
  })

  test(`${operations} forks have the files, the metadata and the settings of their source, which runs on`, async () => {
    await withSource(async (source, metadata) => {
      await source.files.write(FILE, 'source')
      const counter = await startCounter(source)
      const before = await countLines(source)
      const { endAt } = await source.getInfo()
      const forks = (await source.fork({ count: 2, timeoutMs: 120_000 })).map((fork) => {
        if (fork instanceof Error) throw fork
        return fork
      })
      try {
        const ids = forks.map(({ sandboxId }) => sandboxId)
        expect(new Set([source.sandboxId, ...ids]).size).toBe(3)
        await Promise.all(
          forks.map(async (fork) => {
            const { startedAt, ...info } = await fork.getInfo()
            expect(info).toMatchObject({ metadata, name: 'base', state: 'running' })
            expect(info.endAt.getTime() - startedAt.getTime()).toBe(120_000)
            expect(await fork.files.read(FILE)).toBe('source')
            await fork.files.write(FILE, fork.sandboxId)
          }),
        )
        expect(await Promise.all(forks.map((fork) => fork.files.read(FILE)))).toEqual(ids)
        expect(await source.files.read(FILE)).toBe('source')
        expect((await source.getInfo()).endAt).toEqual(endAt)
        await counter.continuesAfter(before)
      } finally {
        await Promise.all(forks.map((fork) => fork.kill()))
      }
      await source.pause()
      await expect(source.fork()).rejects.toThrow(`409: Sandbox '${source.sandboxId}' is paused and cannot be forked; resume it first`)
      await expect(source.createSnapshot()).rejects.toThrow(SandboxNotFoundError)
    })
    await expect(Client.fork('i00000000000000000000')).rejects.toThrow(SandboxNotFoundError)
  })
})

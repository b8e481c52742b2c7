import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import { listContainers } from '../src/containers/list-containers.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from '../src/engine/empty-image.ts'
import { LABEL } from '../src/labels.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'

describe('many sandboxes', () => {
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    await ensureEmptyImage(bench.docker)
  })
  afterAll(() => stack.disposeAsync())

  it('are each listed once, also when the last of a page is removed before the next page is read', async () => {
    const { installation } = bench.options()
    const ids: string[] = []
    for (let index = 0; index < 10; index += 1) {
      const Labels = { [LABEL.installation]: installation, [LABEL.role]: 'test' }
      ids.push((await bench.docker.createContainer({ name: `sandyard-test-${randomId(12)}`, Image: EMPTY_IMAGE, Cmd: ['-'], Labels })).id)
    }
    const filters = { label: [`${LABEL.installation}=${installation}`] }
    const listed = async (docker: Docker, pageSize: number): Promise<string[]> =>
      (await listContainers(docker, filters, pageSize)).map(({ Id }) => Id).sort()
    for (const pageSize of [1, 3, 5, 10, 11]) expect(await listed(bench.docker, pageSize), `pages of ${pageSize}`).toEqual(ids.toSorted())

    let pages = 0
    const removed: string[] = []
    const churning = Object.create(bench.docker, {
      listContainers: {
        value: async (options: object) => {
          const page = await bench.docker.listContainers(options)
          pages += 1
          // The last two of the first page, all of the second.
          for (const { Id } of pages === 1 ? page.slice(-2) : pages === 2 ? page : []) {
            await bench.docker.getContainer(Id).remove({ force: true })
            removed.push(Id)
          }
          return page
        },
      },
    }) as Docker
    const found = await listed(churning, 3)
    const left = ids.filter((id) => !removed.includes(id))
    expect(removed).toHaveLength(5)
    expect(found).toEqual(expect.arrayContaining(left))
    expect(new Set(found).size).toBe(found.length)
  })

  it('end the event stream of a slow reader, who recovers by listing and subscribing again', async () => {
    const runtime = await bench.runtime({ maxUnreadEvents: 3 })
    const spec = sandboxSpec()
    await runtime.create(spec)
    const never = new AbortController()
    const events = await runtime.events(never.signal)
    for (let round = 0; round < 3; round += 1) {
      await runtime.resume(await runtime.pause(spec, 'memory'), { spec, keep: 'memory' })
    }
    expect((await Array.fromAsync(events)).length).toBeLessThanOrEqual(3)
    const again = await runtime.events(never.signal)
    await runtime.pause(spec, 'memory')
    for await (const { kind } of again) {
      expect(kind).toBe('frozen')
      break
    }
  })
})

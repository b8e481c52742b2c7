import { randomUUID } from 'node:crypto'
import { Sandbox, Volume } from 'e2b'
import { beforeAll, describe, expect, test } from 'vitest'
import { findPython, runPython } from '../support/run-python.ts'

const operations = [
  '[GET /volumes] [POST /volumes] [GET /volumes/{volumeID}] [DELETE /volumes/{volumeID}]',
  '[GET /volumecontent/{volumeID}/path] [PATCH /volumecontent/{volumeID}/path] [DELETE /volumecontent/{volumeID}/path]',
  '[GET /volumecontent/{volumeID}/dir] [POST /volumecontent/{volumeID}/dir] [GET /volumecontent/{volumeID}/file] [PUT /volumecontent/{volumeID}/file]',
].join(' ')

let python = ''
let missing = ''
beforeAll(async () => {
  ;({ python, missing } = await findPython())
})

async function withVolume(work: (volume: Volume) => Promise<void>): Promise<void> {
  const volume = await Volume.create(`acc-${randomUUID()}`)
  try {
    await work(volume)
  } finally {
    await Volume.destroy(volume.volumeId)
  }
}

describe(`${operations} volumes`, () => {
  test('have files that are written and read without a sandbox', async () => {
    await withVolume(async (volume) => {
      await volume.writeFile('/notes/a.txt', 'hällo', { force: true, mode: 0o600 })
      expect(await volume.readFile('/notes/a.txt')).toBe('hällo')
      expect(await volume.getInfo('/notes/a.txt')).toMatchObject({
        name: 'a.txt',
        type: 'file',
        size: 6,
        mode: 0o600,
        uid: 9090,
        gid: 9090,
      })
      expect(await volume.updateMetadata('/notes/a.txt', { mode: 0o644, uid: 1000 })).toMatchObject({ mode: 0o644, uid: 1000 })
      await volume.makeDir('/notes/deep')
      expect((await volume.list('/', { depth: 2 })).map(({ path }) => path)).toEqual(['/notes', '/notes/a.txt', '/notes/deep'])
      await volume.remove('/notes')
      expect(await volume.exists('/notes/a.txt')).toBe(false)
      expect(await Volume.list()).toContainEqual({ volumeId: volume.volumeId, name: volume.name })
    })
    expect(await Volume.destroy(randomUUID())).toBe(false)
  })

  test('[POST /v2/sandboxes] [GET /sandboxes/{sandboxID}] are shared by sandboxes, and outlive their ends, pauses and forks', async () => {
    await withVolume(async (volume) => {
      await volume.writeFile('/before', 'from outside')
      const volumeMounts = { '/data': volume }
      const [writer, reader] = await Promise.all([Sandbox.create({ volumeMounts }), Sandbox.create({ volumeMounts })])
      try {
        expect((await writer.getInfo()).volumeMounts).toEqual([{ name: volume.name, path: '/data' }])
        expect((await writer.commands.run('cat /data/before && echo inside > /data/after')).stdout).toBe('from outside')
        expect((await reader.commands.run('cat /data/after')).stdout).toBe('inside\n')
        expect(await volume.readFile('/after')).toBe('inside\n')
        await reader.pause()
        await writer.commands.run('echo later > /data/after')
        await Sandbox.connect(reader.sandboxId)
        expect((await reader.commands.run('cat /data/after')).stdout).toBe('later\n')
      } finally {
        await Promise.all([writer.kill(), reader.kill()])
      }
      expect(await volume.readFile('/after')).toBe('later\n')
    })
  })

  test('cannot be left by links that a sandbox has made', async () => {
    await withVolume(async (volume) => {
      const sandbox = await Sandbox.create({ volumeMounts: { '/data': volume } })
      try {
        await sandbox.commands.run('ln -s /etc/passwd /data/link; ln -s / /data/root; ln -s ../../.. /data/up')
        for (const path of ['/link', '/root/etc/passwd', '/up/etc/passwd', '/../../etc/passwd']) {
          await expect(volume.readFile(path)).rejects.toThrow(/not found/)
        }
      } finally {
        await sandbox.kill()
      }
    })
  })

  test('are used the same way with Python e2b 2.63.0', async ({ skip }) => {
    skip(missing !== '', missing)
    expect(await runPython(python, 'volumes.py', 110_000)).toEqual({ status: 0, stdout: 'volumes done\n', stderr: expect.any(String) })
  })
})

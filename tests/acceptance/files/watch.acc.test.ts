import { FileNotFoundError, type FilesystemEvent, InvalidArgumentError } from 'e2b'
import { describe, expect, test, vi } from 'vitest'
import { withSandbox } from '../support/with-sandbox.ts'

/** `kind name`, followed by the size of the entry if the event has one. */
const describeEvent = ({ type, name, entry }: FilesystemEvent) => [type, name, ...(entry === undefined ? [] : [entry.size])].join(' ')

describe('[filesystem.Filesystem/WatchDir]', () => {
  test('reports changes of a folder in order, until it is stopped', async () => {
    await withSandbox(async ({ files }) => {
      await files.makeDir('w/sub')
      const events: string[] = []
      const handle = await files.watchDir('w', (event) => void events.push(describeEvent(event)))
      await files.write('w/sub/unseen', 'x')
      await files.write('w/new', 'x')
      await files.rename('w/new', 'w/old')
      await files.remove('w/old')
      await vi.waitFor(() => expect(events.at(-1)).toBe('remove old'))
      expect(events).toEqual(['create new', 'chmod new', 'write new', 'rename new', 'create old', 'remove old'])
      await handle.stop()
      await files.write('w/after', 'x')
      await files.getInfo('w/after')
      expect(events.at(-1)).toBe('remove old')
    })
  })

  test('watches subfolders, also new ones, and describes entries', async () => {
    await withSandbox(async ({ files, commands }) => {
      await files.makeDir('w/a')
      const events: string[] = []
      await files.watchDir('w', (event) => void events.push(describeEvent(event)), { recursive: true, includeEntry: true })
      await commands.run('printf 12345 > w/a/f && mkdir -p w/b/c/d && touch w/b/c/d/g && rm w/a/f')
      await vi.waitFor(() => expect(events).toContain('remove a/f'))
      const named = events.map((event) => event.split(' ').slice(0, 2).join(' '))
      expect(named).toEqual(expect.arrayContaining(['create a/f', 'write a/f', 'create b', 'create b/c', 'create b/c/d', 'create b/c/d/g']))
      expect(events).toContain('create b/c/d/g 0')
    })
  })

  test('refuses files and missing paths', async () => {
    await withSandbox(async ({ files }) => {
      await files.write('file', 'x')
      await expect(files.watchDir('file', () => undefined)).rejects.toThrow(InvalidArgumentError)
      await expect(files.watchDir('missing', () => undefined)).rejects.toThrow(FileNotFoundError)
    })
  })
})

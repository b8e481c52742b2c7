import { FileNotFoundError, InvalidArgumentError, SandboxError } from 'e2b'
import { describe, expect, test } from 'vitest'
import { withSandbox } from '../support/with-sandbox.ts'

describe('[filesystem.Filesystem/ListDir]', () => {
  test('lists a folder to the requested depth, by name, parents first', async () => {
    await withSandbox(async ({ files, commands }) => {
      await commands.run('mkdir -p t/b/deep/deeper t/B && touch t/b/deep/f t/a t/ä t/Z')
      expect((await files.list('t')).map(({ name }) => name)).toEqual(['B', 'Z', 'a', 'b', 'ä'])
      expect((await files.list('t', { depth: 2 })).map(({ path }) => path.slice('/home/user/t/'.length))).toEqual([
        'B',
        'Z',
        'a',
        'b',
        'b/deep',
        'ä',
      ])
      expect(await files.list('t', { depth: 10 })).toHaveLength(8)
      expect(await files.list('t/B')).toEqual([])
    })
  })

  test('describes files, folders and links', async () => {
    await withSandbox(async ({ files, commands }) => {
      await commands.run(
        'mkdir -p t/folder && printf 12345 > t/file && chmod 4750 t/file && ln -s file t/link && sudo chown root:4321 t/folder',
      )
      const entries = await files.list('/home/user/t')
      expect(entries).toMatchObject([
        {
          name: 'file',
          type: 'file',
          path: '/home/user/t/file',
          size: 5,
          mode: 0o750,
          permissions: 'urwxr-x---',
          owner: 'user',
          group: 'user',
        },
        { name: 'folder', type: 'dir', mode: 0o755, permissions: 'drwxr-xr-x', owner: 'root', group: '4321' },
        { name: 'link', type: 'file', size: 4, permissions: 'Lrwxrwxrwx', symlinkTarget: '/home/user/t/file' },
      ])
      expect(entries.every(({ modifiedTime }) => modifiedTime instanceof Date)).toBe(true)
      expect(entries[0]?.symlinkTarget).toBeUndefined()
    })
  })

  test('lists a thousand entries', async () => {
    await withSandbox(async ({ files, commands }) => {
      await commands.run('mkdir many && cd many && seq -w 1 1000 | xargs touch')
      expect((await files.list('many')).map(({ name }) => Number(name))).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1))
    })
  })

  test('refuses paths that are not folders', async () => {
    await withSandbox(async ({ files }) => {
      await files.write('file', 'x')
      await expect(files.list('missing')).rejects.toThrow(FileNotFoundError)
      await expect(files.list('file')).rejects.toThrow(InvalidArgumentError)
    })
  })
})

describe('[filesystem.Filesystem/Stat]', () => {
  test('finds by absolute path, by path relative to the user’s home, and by tilde', async () => {
    await withSandbox(async ({ files }) => {
      await files.write('here.txt', 'x')
      for (const path of ['here.txt', '~/here.txt', '/home/user/here.txt', './sub/../here.txt']) {
        expect(await files.getInfo(path), path).toMatchObject({ name: 'here.txt', path: '/home/user/here.txt' })
      }
      expect(await files.exists('here.txt', { user: 'root' })).toBe(false)
      expect((await files.getInfo('.', { user: 'root' })).path).toBe('/root')
      await expect(files.getInfo('~root/x')).rejects.toThrow(InvalidArgumentError)
    })
  })

  test('distinguishes a missing entry from one that cannot be read', async () => {
    await withSandbox(async ({ files, commands }) => {
      await commands.run('touch file && ln -s nowhere dangling')
      expect(await files.exists('missing')).toBe(false)
      expect(await files.exists('dangling')).toBe(true)
      expect(await files.exists('/')).toBe(true)
      await expect(files.getInfo('missing')).rejects.toThrow(FileNotFoundError)
      await expect(files.getInfo('file/below')).rejects.toThrow(SandboxError)
      expect(await files.getInfo('dangling')).toMatchObject({ name: 'dangling', mode: 0, symlinkTarget: '/home/user/dangling' })
    })
  })
})

describe('[filesystem.Filesystem/MakeDir]', () => {
  test('creates a folder and its parents once, for the calling user', async () => {
    await withSandbox(async ({ files, commands }) => {
      expect(await files.makeDir('p/q/r')).toBe(true)
      expect(await files.makeDir('p/q/r')).toBe(false)
      expect(await files.makeDir('/srv/s', { user: 'root' })).toBe(true)
      expect((await commands.run(`stat -c '%U:%G %a' p p/q p/q/r /srv/s`)).stdout).toBe(`${'user:user 755\n'.repeat(3)}root:root 755\n`)
    })
  })

  test('refuses a path that is a file', async () => {
    await withSandbox(async ({ files }) => {
      await files.write('file', 'x')
      await expect(files.makeDir('file')).rejects.toThrow(InvalidArgumentError)
      await expect(files.makeDir('file/below')).rejects.toThrow(SandboxError)
    })
  })
})

describe('[filesystem.Filesystem/Move]', () => {
  test('moves files, folders and links, creates parents, replaces a file', async () => {
    await withSandbox(async ({ files, commands }) => {
      await commands.run('echo one > one; echo two > two; mkdir -p d/e; touch d/e/f; ln -s one link')
      expect(await files.rename('one', 'new/place/uno')).toMatchObject({ path: '/home/user/new/place/uno', owner: 'user' })
      expect(await files.rename('new/place/uno', 'two')).toMatchObject({ path: '/home/user/two', size: 4 })
      expect(await files.read('two')).toBe('one\n')
      expect(await files.rename('d', 'D2')).toMatchObject({ type: 'dir', path: '/home/user/D2' })
      expect(await files.exists('D2/e/f')).toBe(true)
      await files.rename('link', 'moved-link')
      expect((await commands.run('readlink moved-link')).stdout).toBe('one\n')
    })
  })

  test('names the reason when a move fails', async () => {
    await withSandbox(async ({ files, commands }) => {
      await commands.run('mkdir full empty && touch full/x file')
      await expect(files.rename('missing', 'x')).rejects.toThrow(FileNotFoundError)
      for (const [source, destination] of [
        ['file', 'empty'],
        ['full', 'empty'],
        ['full', 'file'],
        ['full', 'full/inside'],
      ] as const) {
        await expect(files.rename(source, destination), `${source} to ${destination}`).rejects.toThrow(SandboxError)
      }
      expect((await commands.run('ls -d file empty full full/x')).stdout).toBe('empty\nfile\nfull\nfull/x\n')
    })
  })
})

describe('[filesystem.Filesystem/Remove]', () => {
  test('removes a file, a folder with its content, a link without its target, and accepts a missing path', async () => {
    await withSandbox(async ({ files, commands }) => {
      await commands.run('mkdir -p d/e && touch d/e/f file target && ln -s target link && sudo install -m 0 /dev/null d/locked')
      for (const path of ['file', 'd', 'link', 'never-was']) await files.remove(path)
      expect((await commands.run('ls -A | grep -v "^\\."')).stdout).toBe('target\n')
    })
  })
})

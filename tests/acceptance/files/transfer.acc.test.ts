import { createHash, randomBytes } from 'node:crypto'
import { FileNotFoundError, InvalidArgumentError, type FilesystemWriteOpts, type Sandbox } from 'e2b'
import { describe, expect, test } from 'vitest'
import { withSandbox } from '../support/with-sandbox.ts'

/** Every byte value, and long enough to be sent in several chunks. */
const binary = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), randomBytes(3_000_000)])

async function sha256Inside({ commands }: Sandbox, path: string): Promise<string> {
  return (await commands.run(`sha256sum < '${path}'`)).stdout.split(' ')[0] ?? ''
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function streamOf(...chunks: Uint8Array[]): ReadableStream {
  return new Blob(chunks.map((chunk) => new Uint8Array(chunk))).stream()
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe('[daemon POST /files]', () => {
  test('writes every type of data unchanged, in each form of request', async () => {
    const writes: [() => string | ArrayBuffer | Blob | ReadableStream, FilesystemWriteOpts, Buffer][] = [
      [() => 'héllo 🚀\n', {}, Buffer.from('héllo 🚀\n')],
      [() => new Uint8Array(binary).buffer, {}, binary],
      [() => new Blob([new Uint8Array(binary)]), {}, binary],
      [() => streamOf(binary.subarray(0, 1_000_000), binary.subarray(1_000_000)), {}, binary],
      [() => new Uint8Array(binary).buffer, { useOctetStream: true }, binary],
      [() => new Uint8Array(binary).buffer, { gzip: true }, binary],
      [() => '', {}, Buffer.alloc(0)],
      [() => '', { useOctetStream: true }, Buffer.alloc(0)],
      [() => '', { gzip: true }, Buffer.alloc(0)],
    ]
    await withSandbox(async (sandbox) => {
      for (const [index, [data, options, expected]] of writes.entries()) {
        const path = `/home/user/written-${index}`
        expect(await sandbox.files.write(`written-${index}`, data(), options), path).toEqual({
          name: `written-${index}`,
          path,
          type: 'file',
        })
        expect(await sha256Inside(sandbox, path), path).toBe(sha256(expected))
      }
    })
  })

  test('writes many files in one call, in different directories', async () => {
    const wanted = Array.from({ length: 30 }, (_, index) => ({ path: `many/d${index % 3}/f${index}.txt`, data: `content ${index}` }))
    await withSandbox(async ({ files, commands }) => {
      for (const options of [{}, { useOctetStream: true }]) {
        const written = await files.write([...wanted, { path: '/tmp/absolute.txt', data: 'there' }], options)
        expect(written.map(({ path }) => path)).toEqual([...wanted.map(({ path }) => `/home/user/${path}`), '/tmp/absolute.txt'])
        const { stdout } = await commands.run('for i in $(seq 0 29); do cat many/*/f$i.txt; echo; done; cat /tmp/absolute.txt; rm -r many')
        expect(stdout).toBe([...wanted.map(({ data }) => data), 'there'].join('\n'))
      }
    })
  })

  test('creates missing folders; the writing user owns all of them', async () => {
    await withSandbox(async ({ files, commands }) => {
      await files.write('/home/user/a/b/c.txt', 'x')
      await files.write('/srv/r/s.txt', 'x', { user: 'root' })
      const { stdout } = await commands.run(`stat -c '%U:%G %a %n' a a/b a/b/c.txt /srv/r /srv/r/s.txt`)
      expect(stdout.split('\n').slice(0, 5)).toEqual([
        'user:user 755 a',
        'user:user 755 a/b',
        'user:user 644 a/b/c.txt',
        'root:root 755 /srv/r',
        'root:root 644 /srv/r/s.txt',
      ])
    })
  })

  test('overwrites in place: shorter content, same mode, new owner', async () => {
    await withSandbox(async ({ files, commands }) => {
      await commands.run('echo a long first content > f && chmod 600 f && stat -c %i f > inode && sudo chown root:root f')
      await files.write('f', 'short')
      expect((await commands.run('cat f; stat -c " %U:%G %a" f')).stdout).toBe('short user:user 600\n')
      expect((await commands.run('stat -c %i f | cmp - inode && echo same')).stdout).toBe('same\n')
    })
  })

  test('refuses to write over a folder', async () => {
    await withSandbox(async ({ files }) => {
      await files.makeDir('folder')
      const refusal = await files.write('folder', 'x').catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(InvalidArgumentError)
      expect(String(refusal)).toContain('path is a directory: /home/user/folder')
    })
  })

  test('stores metadata with the file, returns it, and clears it with the next write', async () => {
    const metadata = { owner: 'team a', 'content-kind': 'x=1; y="2"' }
    await withSandbox(async ({ files }) => {
      expect(await files.write('m.txt', 'x', { metadata })).toMatchObject({ metadata })
      expect(await files.getInfo('m.txt')).toMatchObject({ metadata })
      expect((await files.rename('m.txt', 'n.txt')).metadata).toEqual(metadata)
      expect((await files.list('.')).find(({ name }) => name === 'n.txt')?.metadata).toEqual(metadata)
      expect((await files.write('n.txt', 'y')).metadata).toBeUndefined()
      expect((await files.getInfo('n.txt')).metadata ?? {}).toEqual({})
    })
  })
})

describe('[daemon GET /files]', () => {
  test('reads text, bytes, a blob or a stream, plain or compressed', async () => {
    await withSandbox(async (sandbox) => {
      const { files, commands } = sandbox
      await commands.run('head -c 3000000 /dev/urandom > r.bin; printf "wörld 🚀\\n" > r.txt')
      const digest = await sha256Inside(sandbox, '/home/user/r.bin')
      for (const gzip of [false, true]) {
        expect(await files.read('r.txt', { gzip })).toBe('wörld 🚀\n')
        expect(sha256(await files.read('r.bin', { format: 'bytes', gzip }))).toBe(digest)
        expect(sha256(await (await files.read('r.bin', { format: 'blob', gzip })).bytes())).toBe(digest)
        expect(sha256(await collect(await files.read('r.bin', { format: 'stream', gzip })))).toBe(digest)
      }
    })
  })

  test('reads an empty file in every format', async () => {
    await withSandbox(async ({ files, commands }) => {
      await commands.run('touch empty')
      expect(await files.read('empty')).toBe('')
      expect(await files.read('empty', { format: 'bytes' })).toEqual(new Uint8Array())
      expect((await files.read('empty', { format: 'blob' })).size).toBe(0)
      expect((await collect(await files.read('empty', { format: 'stream' }))).length).toBe(0)
    })
  })

  test('reads files that the user may not read, and names what cannot be read', async () => {
    await withSandbox(async ({ files, commands }) => {
      await commands.run('sudo install -m 600 -o root /dev/stdin /root/secret <<< hidden; mkdir folder')
      expect(await files.read('/root/secret')).toBe('hidden\n')
      const missing = await files.read('no/such.txt').catch((error: unknown) => error)
      expect(missing).toBeInstanceOf(FileNotFoundError)
      expect(String(missing)).toContain("path '/home/user/no/such.txt' does not exist")
      const folder = await files.read('folder').catch((error: unknown) => error)
      expect(folder).toBeInstanceOf(InvalidArgumentError)
      expect(String(folder)).toContain("path '/home/user/folder' is a directory")
    })
  })

  test('writes and reads files with any name', async () => {
    const names = [
      'with space.txt',
      ' leading and trailing ',
      'ünïcode 日本 🚀.txt',
      `quote's "double" \\back.txt`,
      'per%20cent & plus+ #hash ?question=.txt',
      '-dash',
      '..dots',
    ]
    await withSandbox(async ({ files, commands }) => {
      for (const name of names) {
        expect(await files.write(`odd/${name}`, name, { useOctetStream: true })).toMatchObject({ name, path: `/home/user/odd/${name}` })
        expect(await files.read(`odd/${name}`)).toBe(name)
        expect((await files.list('odd')).map((entry) => entry.name)).toEqual([name])
        expect((await commands.run('shopt -s dotglob; printf "%s\\n" odd/*')).stdout).toBe(`odd/${name}\n`)
        await files.rename(`odd/${name}`, `odd/x ${name}`)
        expect(await files.getInfo(`odd/x ${name}`)).toMatchObject({ name: `x ${name}`, type: 'file' })
        await files.remove(`odd/x ${name}`)
        expect(await files.list('odd')).toEqual([])
      }
    })
  })
})

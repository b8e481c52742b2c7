import type { Sandbox } from 'e2b'
import { describe, expect, test } from 'vitest'
import { startServer } from '../support/sandbox-server.ts'
import { daemonPort, headerForm, throughProxy } from '../support/through-proxy.ts'
import { withSandbox } from '../support/with-sandbox.ts'

const port = 8126

/** Capabilities that a sandbox must not have, because it could change or bypass its limits; numbers of `capabilities(7)`. */
const forbidden = {
  DAC_READ_SEARCH: 2,
  NET_ADMIN: 12,
  SYS_MODULE: 16,
  SYS_RAWIO: 17,
  SYS_PTRACE: 19,
  SYS_ADMIN: 21,
  SYS_BOOT: 22,
  SYS_TIME: 25,
  MAC_ADMIN: 33,
  SYSLOG: 34,
  BPF: 39,
}

async function canConnect({ commands }: Sandbox, address: string, port: number): Promise<boolean> {
  const attempt = `timeout 3 bash -c 'exec 3<>/dev/tcp/${address}/${port}' 2>/dev/null && echo yes || echo no`
  return (await commands.run(attempt, { user: 'root' })).stdout === 'yes\n'
}

describe('[POST /v2/sandboxes] a sandbox', () => {
  test('cannot connect to another sandbox, while the proxy can connect to both', async () => {
    await withSandbox(async (one) => {
      await withSandbox(async (two) => {
        await Promise.all([startServer(one, port), startServer(two, port)])
        const address = (await one.commands.run('hostname -I')).stdout.trim().split(' ')[0] ?? ''
        expect(await canConnect(one, address, port)).toBe(true)
        expect(await canConnect(two, '127.0.0.1', port)).toBe(true)
        expect(await canConnect(two, address, port)).toBe(false)
        expect(await canConnect(two, address, daemonPort)).toBe(false)
        for (const sandbox of [one, two]) {
          expect(await throughProxy(headerForm(sandbox, port), { path: '/' })).toMatchObject({ status: 418 })
        }
      })
    })
  })

  test('denies its root user access to the host', async () => {
    await withSandbox(async ({ commands }) => {
      const { stdout } = await commands.run(`awk '/^Cap(Bnd|Eff):/ { print $2 }' /proc/self/status`, { user: 'root' })
      for (const set of stdout
        .trim()
        .split('\n')
        .map((hex) => BigInt(`0x${hex}`))) {
        const held = Object.entries(forbidden).filter(([, number]) => ((set >> BigInt(number)) & 1n) === 1n)
        expect(held).toEqual([])
      }
      for (const attempt of [
        'mount -t tmpfs none /mnt',
        'mknod /tmp/disk b 8 0 && head -c1 /tmp/disk',
        'echo 1 > /proc/sys/kernel/sysrq',
        'ls /var/run/docker.sock',
        'ip link add d0 type dummy',
      ]) {
        expect((await commands.run(`(${attempt}) 2>/dev/null && echo done || echo refused`, { user: 'root' })).stdout, attempt).toBe(
          'refused\n',
        )
      }
    })
  })

  test('protects the files of a user from other users', async () => {
    await withSandbox(async ({ commands, files }) => {
      await files.write('/home/user/private', 'x')
      await commands.run('chmod 600 private && sudo useradd -m eve')
      expect((await commands.run('cat /home/user/private 2>/dev/null || echo denied', { user: 'eve' })).stdout).toBe('denied\n')
      expect((await commands.run('sudo -n true 2>/dev/null || echo denied', { user: 'eve' })).stdout).toBe('denied\n')
    })
  })

  test('survives a command that takes all of its memory', async () => {
    await withSandbox(async (sandbox) => {
      const hungry = 'python3 -c "x = []\nwhile True: x.append(bytearray(64 << 20))"'
      await expect(sandbox.commands.run(hungry)).rejects.toThrow()
      expect((await sandbox.commands.run('echo alive')).stdout).toBe('alive\n')
    })
  })
})

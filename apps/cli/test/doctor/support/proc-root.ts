import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** A machine of ordinary size on which every check of the kernel is content, for 20 sandboxes of 4,096 processes. */
const WELL: Readonly<Record<string, string>> = {
  'proc/sys/kernel/osrelease': '6.1.0-test',
  'proc/sys/kernel/pid_max': '4194304',
  'proc/sys/kernel/threads-max': '300000',
  'proc/sys/kernel/pty/max': '4096',
  'proc/sys/kernel/pty/nr': '3',
  'proc/sys/kernel/keys/maxkeys': '2000',
  'proc/sys/fs/inotify/max_user_instances': '8192',
  'proc/sys/fs/file-nr': '2000\t0\t800000',
  'proc/sys/net/ipv4/ip_forward': '1',
  'proc/sys/net/netfilter/nf_conntrack_count': '100',
  'proc/sys/net/netfilter/nf_conntrack_max': '262144',
  'proc/self/limits':
    'Limit                     Soft Limit           Hard Limit           Units     \nMax open files            65536                524288               files     ',
  'proc/meminfo': 'MemTotal:       32000000 kB\nMemFree:         1000000 kB\nMemAvailable:   24000000 kB',
  'proc/pressure/memory': 'some avg10=0.00 avg60=0.20 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1',
  'proc/net/tcp': 'sl local_address rem_address st tx_queue tr tm->when retrnsmt uid timeout inode',
  'proc/net/tcp6': 'sl local_address rem_address st tx_queue tr tm->when retrnsmt uid timeout inode',
  'proc/net/dev': 'Inter-|   Receive\n face |bytes\n    lo: 0 0\n  eth0: 0 0',
  'proc/net/route': 'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT',
}

/** A folder in place of `/`, with the files of a machine that is well. */
export class ProcRoot implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'sandyard-doctor-'))

  constructor(changes: Readonly<Record<string, string>> = {}) {
    for (const [file, text] of Object.entries({ ...WELL, ...changes })) this.write(file, text)
  }

  write(file: string, text: string | Buffer): void {
    const path = join(this.path, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof text === 'string' ? `${text}\n` : text)
  }

  remove(file: string): void {
    rmSync(join(this.path, file), { recursive: true, force: true })
  }

  /** A socket that listens. `address` is written as the kernel does: `0100007F` is 127.0.0.1. */
  listen(address: string, port: number, inode = 4711): void {
    const hex = port.toString(16).toUpperCase().padStart(4, '0')
    const name = address.length === 8 ? 'proc/net/tcp' : 'proc/net/tcp6'
    this.write(name, `${WELL[name]}\n   0: ${address}:${hex} ${'0'.repeat(address.length)}:0000 0A 0:0 00:0 0 0 0 ${inode} 1`)
  }

  addProcess(pid: number, args: readonly string[], inode?: number): void {
    this.write(`proc/${pid}/stat`, `${pid} (a (strange) name) S 1 1 1 0`)
    this.write(`proc/${pid}/cmdline`, Buffer.from(args.map((arg) => `${arg}\0`).join('')))
    mkdirSync(join(this.path, `proc/${pid}/fd`), { recursive: true })
    if (inode !== undefined) symlinkSync(`socket:[${inode}]`, join(this.path, `proc/${pid}/fd/5`))
  }

  addChangelog(name: string, text: string): void {
    this.write(`usr/share/doc/${name}/changelog.Debian.gz`, gzipSync(text))
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

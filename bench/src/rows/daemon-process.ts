/** Answers for the daemons of all fake sandboxes, in a process of its own. It prints its port and ends with its parent. */
import { startDaemonStub } from '../../../apps/api/test/support/daemon-stub.ts'

const REPORT = {
  ts: 1,
  cpu_count: 2,
  cpu_used_pct: 1.5,
  mem_total: 2 ** 30,
  mem_used: 2 ** 24,
  mem_cache: 2 ** 24,
  mem_total_mib: 1024,
  mem_used_mib: 16,
  disk_used: 2 ** 30,
  disk_total: 2 ** 34,
}

const stub = await startDaemonStub()
stub.report = (url) => (url.startsWith('/logs') ? { boot: 'bench', entries: [], metrics: REPORT } : REPORT)
process.stdout.write(`${stub.port}\n`)
process.stdin.resume().once('end', () => process.exit())

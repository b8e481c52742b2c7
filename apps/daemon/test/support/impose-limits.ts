/** Gives a process of another account the limits of a child, and prints how many files it may have open. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { ChildLimits } from '../../src/process/child-limits.ts'
import { loadCLibrary } from '../../src/sys/c-library.ts'

const NOBODY = { uid: 65_534, gid: 65_534 }

await loadCLibrary()
const child = spawn('/bin/sleep', ['600'], { ...NOBODY, cwd: '/', stdio: 'ignore' })
try {
  new ChildLimits().imposeOn(child.pid ?? 0, { ...NOBODY, groups: [] })
  process.stdout.write(/^Max open files.*$/m.exec(readFileSync(`/proc/${child.pid}/limits`, 'utf8'))?.[0] ?? '')
} finally {
  child.kill('SIGKILL')
}

import { expect, it } from 'vitest'
import { parseBootTime, parseProcStat } from './proc-stat.ts'
import { parseListening } from './listening-ports.ts'

it('reads a process whose name has brackets and spaces', () => {
  const text = '42 (a) (b c) S 7 42 42 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 1 0 98765 1000000 256 18446744073709551615 1 1\n'
  expect(parseProcStat(text)).toEqual({ command: 'a) (b c', parentPid: 7, cpuTicks: 200, startTicks: 98765, memoryBytes: 256 * 4096 })
  expect(parseProcStat('42 (a')).toBeUndefined()
  expect(parseProcStat('42 (a) S x')).toBeUndefined()
  expect(parseBootTime('cpu 1 2\nbtime 1700000000\n')).toBe(1_700_000_000)
  expect(parseBootTime('nothing')).toBeUndefined()
})

it('reads the sockets that listen, and no others', () => {
  const tcp = [
    '  sl  local_address rem_address   st',
    '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1',
    '   1: 0100007F:1F91 0100007F:0050 01 00000000:00000000 00:00000000 00000000     0        0 2',
  ].join('\n')
  const tcp6 = '   0: 00000000000000000000000000000000:0BB8 00000000000000000000000000000000:0000 0A 0 0\n'
  expect(parseListening(tcp)).toEqual([{ address: '127.0.0.1', port: 8080 }])
  expect(parseListening(tcp6)).toEqual([{ address: '::', port: 3000 }])
})

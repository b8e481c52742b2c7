import { expect, it } from 'vitest'
import { flawsOf } from './known-flaws.ts'

const RACES = ['CVE-2025-31133', 'CVE-2025-52565', 'CVE-2025-52881']

it.for<['runc' | 'engine', string, string[]]>([
  [
    'runc',
    '1.0.0-rc6',
    ['CVE-2019-5736', 'CVE-2021-30465', 'CVE-2022-29162', 'CVE-2023-27561', 'CVE-2023-28642', 'CVE-2024-21626', 'CVE-2024-45310', ...RACES],
  ],
  [
    'runc',
    '1.0.0~rc93+ds1',
    ['CVE-2021-30465', 'CVE-2022-29162', 'CVE-2023-27561', 'CVE-2023-28642', 'CVE-2024-21626', 'CVE-2024-45310', ...RACES],
  ],
  ['runc', '1.1.5+ds1', ['CVE-2024-21626', 'CVE-2024-45310', ...RACES]],
  ['runc', 'v1.1.12', ['CVE-2024-45310', ...RACES]],
  ['runc', '1.1.15', RACES],
  ['runc', '1.2.0-rc.2', ['CVE-2024-45310', ...RACES]],
  ['runc', '1.2.7', RACES],
  ['runc', '1.2.8', []],
  ['runc', '1.3.2', RACES],
  ['runc', '1.3.3', []],
  ['runc', '1.4.0-rc.2', RACES],
  ['runc', '1.4.0', []],
  ['runc', '2.0.0', []],
  ['runc', 'unknown', []],
  ['engine', '20.10.8', ['CVE-2021-41091', 'CVE-2022-24769', 'CVE-2022-36109', 'CVE-2024-24557']],
  ['engine', '20.10.24+dfsg1', ['CVE-2024-24557']],
  ['engine', '24.0.9', []],
  ['engine', '25.0.1', ['CVE-2024-24557']],
  ['engine', '28.2.2', []],
])('the flaws of %s %s', ([component, version, expected]) => {
  expect(flawsOf(component, { version }).map(({ cve }) => cve)).toEqual(expected)
})

it.for<[string, boolean]>([
  ['1.1.5+ds1-1', true],
  ['1.1.5+ds1-1+deb12u1', false],
  ['1.1.5+ds1-1+deb12u12', false],
  ['1.1.5+ds1-1+deb13u1', true],
  ['v1.1.5-0-gabc', true],
])('package %s has the flaw that its version has: %s', ([packageVersion, hasFlaw]) => {
  const flaws = flawsOf('runc', { version: '1.1.5+ds1', packageVersion }).map(({ cve }) => cve)
  expect(flaws.includes('CVE-2024-21626')).toBe(hasFlaw)
  expect(flaws).toContain('CVE-2024-45310')
})

import { expect, it } from 'vitest'
import { shellTabs } from './shell-state.ts'

const kept = (terminalId: string, title = '') => ({ terminalId, title, user: 'user' })

it('shows kept shells once, and those that are being opened after them', () => {
  const opening = [
    { terminalId: 'b', title: 'new', create: { sandboxId: 's' } },
    { terminalId: 'c', title: 'newer', create: { sandboxId: 's' } },
  ]
  const tabs = shellTabs([kept('a'), kept('b', 'bash')], opening, new Set())
  expect(tabs.map(({ terminalId, title }) => `${terminalId} ${title}`)).toEqual(['a 1 · user', 'b bash', 'c newer'])
  expect(tabs[1]?.create).toEqual({ sandboxId: 's' })
})

it('leaves out those that were closed', () => {
  expect(shellTabs([kept('a'), kept('b')], [], new Set(['a'])).map(({ terminalId }) => terminalId)).toEqual(['b'])
})

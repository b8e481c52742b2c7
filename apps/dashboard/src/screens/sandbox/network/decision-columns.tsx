import type { SandboxNetworkUpdate } from '@sandyard/api-contract/sandboxes/network'
import type { EgressDecision } from '@sandyard/dashboard-contract/network'
import type { NetworkView } from '@sandyard/dashboard-contract/sandboxes'
import { ActionButton, type ActionCode } from '../../../parts/action-button.tsx'
import type { Column } from '../../../parts/data-table.tsx'
import { StateBadge } from '../../../parts/state-badge.tsx'
import { Time } from '../../../parts/time.tsx'
import { networkTexts as texts } from '../../../texts/sandbox-panels-texts.ts'
import { isChangeable, updateWith } from './policy-update.ts'

interface Options {
  readonly network: NetworkView
  readonly canChange: boolean
  readonly isEnded: boolean
  readonly codeOf: (update: SandboxNetworkUpdate) => ActionCode
  readonly onAllow: (update: SandboxNetworkUpdate) => Promise<unknown>
}

/** Each denial says what allows it. */
export function decisionColumns({ network, canChange, isEnded, codeOf, onAllow }: Options): readonly Column<EgressDecision>[] {
  return [
    { id: 'at', title: texts.at, cell: ({ at }) => <Time at={at} /> },
    {
      id: 'verdict',
      title: texts.verdict,
      cell: (decision) => <StateBadge state={texts.verdicts[decision.verdict]} tone={decision.verdict === 'allow' ? 'good' : 'bad'} />,
    },
    {
      id: 'host',
      title: texts.host,
      cell: ({ host, address, port, protocol }) => (
        <span class="mono">
          {host ?? address}:{port} <span class="muted">{host === null ? protocol : `${address} ${protocol}`}</span>
        </span>
      ),
    },
    { id: 'rule', title: texts.rule, cell: ({ rule }) => <span class="mono">{rule}</span> },
    { id: 'times', title: texts.times, isNumber: true, cell: ({ connections }) => connections },
    {
      id: 'allow',
      title: '',
      cell: (decision) =>
        decision.verdict === 'deny' &&
        decision.toAllow !== null &&
        !isEnded && (
          <ActionButton
            isSmall
            disabled={!canChange}
            title={isChangeable(network) ? undefined : texts.hidden}
            label={texts.allowTitle(decision.toAllow)}
            done={texts.allowed(decision.toAllow)}
            code={codeOf(updateWith(network, decision.toAllow))}
            confirm={{ title: texts.allowTitle(decision.toAllow), text: texts.allowText(decision.toAllow), button: texts.allowButton }}
            run={() => onAllow(updateWith(network, decision.toAllow ?? ''))}
          >
            {texts.allow}
          </ActionButton>
        ),
    },
  ]
}

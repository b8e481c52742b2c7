import type { NetworkView } from '@sandyard/dashboard-contract/sandboxes'
import { networkTexts as texts } from '../../../texts/sandbox-panels-texts.ts'
import { isChangeable } from './policy-update.ts'
import '../../../styles/details.css'

export function Policy({ network }: { readonly network: NetworkView }) {
  const { allowInternetAccess, allowPublicTraffic, allowOut, denyOut, dnsServers, proxyAddress, rules } = network
  return (
    <>
      <dl class="facts">
        <dt>{texts.internet}</dt>
        <dd class={allowInternetAccess ? 'good' : 'bad'}>{allowInternetAccess ? texts.on : texts.off}</dd>
        <dt>{texts.publicTraffic}</dt>
        <dd>{allowPublicTraffic ? texts.on : texts.withToken}</dd>
        <dt>{texts.allowOut}</dt>
        <dd>
          <Entries entries={allowOut} />
        </dd>
        <dt>{texts.denyOut}</dt>
        <dd>
          <Entries entries={denyOut} />
        </dd>
        {dnsServers.length > 0 && (
          <>
            <dt>{texts.dns}</dt>
            <dd>
              <Entries entries={dnsServers} />
            </dd>
          </>
        )}
        {proxyAddress !== null && (
          <>
            <dt>{texts.proxy}</dt>
            <dd class="mono">{proxyAddress}</dd>
          </>
        )}
        {rules.length > 0 && (
          <>
            <dt>{texts.rules}</dt>
            <dd>
              <Entries entries={rules.map(({ host, headerNames }) => `${host}: ${headerNames.join(', ')}`)} />
            </dd>
          </>
        )}
      </dl>
      {!isChangeable(network) && <p class="notice">{texts.hidden}</p>}
    </>
  )
}

function Entries({ entries }: { readonly entries: readonly string[] }) {
  if (entries.length === 0) return <span class="muted">{texts.nothing}</span>
  return (
    <>
      {entries.map((entry) => (
        <span key={entry} class="tag">
          {entry}
        </span>
      ))}
    </>
  )
}

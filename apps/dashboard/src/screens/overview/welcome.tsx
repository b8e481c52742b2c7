import { paths } from '../../frame/paths.ts'
import { Icon } from '../../parts/icon.tsx'
import { me } from '../../session/me.ts'
import { frameTexts } from '../../texts/frame-texts.ts'
import { overviewTexts as texts } from '../../texts/overview-texts.ts'

/** For a team that has not started a sandbox yet. */
export function Welcome() {
  const server = me.value?.server
  return (
    <section class="panel panel-body welcome">
      <h2>{texts.welcome}</h2>
      <p class="muted">{texts.welcomeText}</p>
      <pre class="code-block">
        {`export E2B_API_URL=${server?.apiUrl ?? ''}\nexport E2B_SANDBOX_URL=${server?.sandboxUrl ?? ''}\nexport E2B_API_KEY=…`}
      </pre>
      <p>
        <a class="button button-primary" href={paths.newSandbox}>
          <Icon name="plus" />
          {frameTexts.newSandbox}
        </a>
      </p>
    </section>
  )
}

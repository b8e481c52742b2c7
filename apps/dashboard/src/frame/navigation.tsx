import { useLocation } from 'preact-iso/router'
import type { Me } from '@sandyard/dashboard-contract/session'
import { Icon } from '../parts/icon.tsx'
import { frameTexts } from '../texts/frame-texts.ts'
import { isCurrent, navLinks } from './nav-links.ts'

export function Navigation({ session }: { readonly session: Me }) {
  const { path } = useLocation()
  return (
    <nav class="nav" aria-label={frameTexts.navigation}>
      {navLinks(session).map((group) => (
        <ul key={group[0]?.path}>
          {group.map(({ icon, path: href }) => (
            <li key={href}>
              <a href={href} aria-current={isCurrent(href, path) ? 'page' : undefined}>
                <Icon name={icon} />
                {frameTexts.screens[icon]}
              </a>
            </li>
          ))}
        </ul>
      ))}
    </nav>
  )
}

#!/bin/sh
set -e
printf '#!/bin/sh\necho greetings %s\n' "$NAME" > /bin/greet
chmod 755 /bin/greet

"""What can be known exactly about a finite task and a memory.

- `adastack.theory.question`, `adastack.theory.answers`: what can be asked, and answers as JSON;
- `adastack.theory.kappa`: the smallest stack that is enough, with a policy as proof;
- `adastack.theory.optimal`, `adastack.theory.values`: V* over histories, V of any stack policy;
- `adastack.theory.gap`, `adastack.theory.consistency`, `adastack.theory.table`: what the value of a
  stack says about the histories behind it;
- `adastack.theory.td`, `adastack.theory.theorems`: where TD learning ends, and the partial order;
- `adastack.theory.states`, `adastack.theory.cost`: how large things become.
"""

from adastack.extras import check_installed

check_installed("numba", "scipy", "matplotlib", extra="train")

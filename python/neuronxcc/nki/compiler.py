# SPDX-License-Identifier: Apache-2.0
"""Nothing of the direct allocation interface is here."""

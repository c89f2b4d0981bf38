"""The hunters' SDK: a bounty on a server, from Python.

    client = biasbounty.Client(url, token)
    bounty = client.bounty(client.bounties()[0].id)
    tree = bounty.train_on("AGEP < 25").model
    bounty.submit("AGEP < 25", tree, note="the young").verdict

It speaks HTTP and nothing else: what it knows of a bounty is what the server tells any hunter. Whatever goes wrong is
raised as the exception that the service raised. Needs the extra `client`.
"""

from biasbounty.client.bounty import RemoteBounty
from biasbounty.client.client import Client
from biasbounty.client.group import Group
from biasbounty.client.rows import BountyData, Part
from biasbounty.client.training import Trained
from biasbounty.client.values import BountyInfo, Event, Preflight, Receipt, Standing, Submission

__all__ = [
    "BountyData",
    "BountyInfo",
    "Client",
    "Event",
    "Group",
    "Part",
    "Preflight",
    "Receipt",
    "RemoteBounty",
    "Standing",
    "Submission",
    "Trained",
]
